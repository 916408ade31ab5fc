import { createHash } from 'node:crypto';
import { lstat, readFile, readdir } from 'node:fs/promises';
import type { Clock } from '../../src/system/clock.ts';
import type { Random } from '../../src/system/random.ts';
import type { System } from '../../src/system/system.ts';
import { system } from '../../src/system/system.ts';
import { requirePosix } from '../harness/posix.ts';

/** A clock that stands where it is put, and notes how long it was slept on. */
export interface StillClock extends Clock {
  time: number;
  readonly slept: number[];
}

export function stillClock(time = Date.UTC(2024, 4, 6, 7, 8, 9)): StillClock {
  const slept: number[] = [];
  return {
    time,
    slept,
    now() {
      return this.time;
    },
    monotonic() {
      return this.time;
    },
    async sleep(ms) {
      slept.push(ms);
      this.time += ms;
    },
    after: () => () => undefined,
  };
}

/** Bytes that differ from call to call and are the same in every run. */
export function countingRandom(seed = 'seed'): Random {
  let calls = 0;
  const bytes = (length: number): Uint8Array => {
    calls += 1;
    const digest = createHash('sha256').update(`${seed} ${calls}`).digest();
    return Uint8Array.from({ length }, (_, index) => digest[index % digest.length] ?? 0);
  };
  return {
    bytes,
    uuid: () => Buffer.from(bytes(16)).toString('hex'),
    fraction: () => (bytes(1)[0] ?? 0) / 256,
  };
}

/** The real files and processes, on a clock and with random values that a test knows, but for `changes`. */
export function testSystem(changes: Partial<System> = {}): System {
  return {
    ...system,
    random: countingRandom(),
    clock: stillClock(),
    platform: 'linux',
    ...changes,
  };
}

/** The names in a folder, sorted. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).toSorted();
}

/** The text of a file, or undefined when there is nothing of that name. */
export async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Permission bits of a file, such as 0o600. */
export async function modeOf(file: string): Promise<number> {
  requirePosix('files that only their owner can read');
  return (await lstat(file)).mode & 0o777;
}

/** The failure that a promise ends in. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`no failure, but ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
