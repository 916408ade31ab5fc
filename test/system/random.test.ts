import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSystemRandom } from '../../src/system/random.ts';
import { createSandbox } from '../harness/sandbox.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A file in the place of the device: bytes that are known, and so many only. */
async function deviceOf(content: Buffer): Promise<string> {
  const { root } = await createSandbox();
  const device = path.join(root, 'random');
  writeFileSync(device, content);
  return device;
}

describe.each([
  ['the device of the system', '/dev/urandom'],
  ['where there is no device', '/dev/null/none'],
  ['where the device gives nothing', '/dev/null'],
])('random bytes from %s', (_, device) => {
  test('are as many as asked for, and never the same', () => {
    const random = createSystemRandom(device);
    const hex = (length: number): string => Buffer.from(random.bytes(length)).toString('hex');
    const drawn = Array.from({ length: 200 }, () => hex(12));
    expect(drawn.every((one) => one.length === 24)).toBe(true);
    expect(new Set(drawn).size).toBe(200);
    expect(random.bytes(100_000)).toHaveLength(100_000);
  });

  test('make UUIDs of version 4', () => {
    const random = createSystemRandom(device);
    const drawn = Array.from({ length: 200 }, () => random.uuid());
    expect(drawn.filter((one) => !UUID.test(one))).toEqual([]);
    expect(new Set(drawn).size).toBe(200);
  });
});

test('a UUID is the random bytes but for its version and variant', async () => {
  const random = createSystemRandom(await deviceOf(Buffer.alloc(256, 0xff)));
  expect(random.uuid()).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
});

test('what was given out once is not given out again', async () => {
  const content = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  const random = createSystemRandom(await deviceOf(content));
  const first = Buffer.from(random.bytes(100));
  const second = Buffer.from(random.bytes(156));
  expect(Buffer.concat([first, second])).toStrictEqual(content);
});
