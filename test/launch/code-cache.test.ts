import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openCodeCache } from '../../src/launch/launch.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { requirePosix } from '../harness/posix.ts';

async function cacheFolder(): Promise<string> {
  const { root } = await createSandbox();
  const folder = path.join(root, 'code');
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

const CHUNKS = new Map([
  ['start.cjs', { checksum: 1, code: Buffer.from('compiled') }],
  ['tts.cjs', { checksum: 2 ** 32 - 1, code: Buffer.alloc(0) }],
]);

describe('compiled code of earlier runs', () => {
  test('comes back as it was kept, for the same key only', async () => {
    const folder = await cacheFolder();
    openCodeCache(folder, 'tts').keep(() => CHUNKS);
    expect(openCodeCache(folder, 'tts').chunks).toEqual(CHUNKS);
    expect(openCodeCache(folder, 'voices').chunks.size).toBe(0);
    expect(readdirSync(folder)).toEqual(['tts']);
  });

  test('is nothing wherever a bit of it has changed, or its end is missing', async () => {
    const folder = await cacheFolder();
    openCodeCache(folder, 'tts').keep(() => CHUNKS);
    const whole = readFileSync(path.join(folder, 'tts'));
    const damages = fc.oneof(
      fc.nat(whole.length - 1).map((length) => whole.subarray(0, length)),
      fc
        .tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }))
        .map(([at, bits]) =>
          Buffer.from(whole).map((byte, index) => (index === at ? byte ^ bits : byte)),
        ),
    );
    fc.assert(
      fc.property(damages, (damaged) => {
        writeFileSync(path.join(folder, 'tts'), damaged);
        expect(openCodeCache(folder, 'tts').chunks.size).toBe(0);
      }),
    );
  });

  test('is not taken from a folder that others may write to', async () => {
    const folder = await cacheFolder();
    openCodeCache(folder, 'tts').keep(() => CHUNKS);
    chmodSync(folder, 0o777);
    const open = openCodeCache(folder, 'tts');
    expect(open.chunks.size).toBe(0);
    open.keep(() => new Map());
    chmodSync(folder, 0o700);
    expect(openCodeCache(folder, 'tts').chunks).toEqual(CHUNKS);
  });

  test('has its private folder made by the first run, which keeps nothing', async () => {
    requirePosix('files that only their owner can read');
    const { root } = await createSandbox();
    const folder = path.join(root, 'cache', 'code');
    openCodeCache(folder, 'tts').keep(() => CHUNKS);
    expect(readdirSync(folder)).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('that cannot be saved is no error', () => {
    const cache = openCodeCache(path.join(devNull, 'code'), 'tts');
    cache.keep(() => CHUNKS);
    expect(cache.chunks.size).toBe(0);
  });
});
