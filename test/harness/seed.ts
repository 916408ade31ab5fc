import fc from 'fast-check';
import { fixedSeed } from './fixed-seed.ts';

/**
 * Runs something that is made of chance, under the seed of the gates or, in the soak, a new one; when
 * it fails the message says which it was, so that the same choices can be made again.
 */
export async function underSeed(work: (seed: number) => Promise<void>): Promise<void> {
  const seed = fixedSeed() ?? Math.floor(Math.random() * 2 ** 31);
  try {
    await work(seed);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`With FOLEY_TEST_SEED=${seed}: ${message}`, { cause: error });
  }
}

/** So many values of a kind: the same for the same seed. */
export function drawn<Value>(arbitrary: fc.Arbitrary<Value>, count: number, seed: number): Value[] {
  return fc.sample(fc.noBias(arbitrary), { numRuns: count, seed });
}
