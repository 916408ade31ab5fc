import fc from 'fast-check';

/**
 * Runs something that is made of chance. The seed is a new one each time, or `FOLEY_TEST_SEED`; when
 * it fails the message says which it was, so that the same choices can be made again.
 */
export async function underSeed(work: (seed: number) => Promise<void>): Promise<void> {
  const given = process.env['FOLEY_TEST_SEED'];
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
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
