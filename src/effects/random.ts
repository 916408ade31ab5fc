import { randomBytes, randomUUID } from 'node:crypto';

/** Randomness, injected so that ids and jitter can be repeated in a test. */
export interface Random {
  /** A random UUID, version 4. */
  uuid(): string;
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
  /** A number in [0, 1). */
  fraction(): number;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  bytes: (length) => randomBytes(length),
  fraction: () => Math.random(),
};
