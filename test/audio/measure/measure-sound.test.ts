import { readFileSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { measureSound } from '../../../src/audio/measure.ts';
import { temporaryFolder } from '../../service/support/test-service.ts';

function fixtureFile(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/media/${name}`, import.meta.url));
}

async function measured(bytes: Uint8Array) {
  const file = path.join(await temporaryFolder(), 'sound');
  await writeFile(file, bytes);
  const handle = await open(file);
  onTestFinished(() => handle.close());
  return measureSound({ fd: handle.fd, size: bytes.length }, new AbortController().signal);
}

describe('a measured sound', () => {
  test.each(['beeps.flac', 'beeps.ogg', 'beeps.opus', 'beeps.mp3'])(
    'is decoded to its last sample: %s',
    async (name) => {
      const { levels } = await measured(fixtureFile(name));
      expect(levels.durationMs).toBe(10_000);
    },
  );

  test.each([
    ['is cut', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['is damaged in one place', (bytes: Buffer) => bytes.fill(0x55, 20_000, 20_004)],
  ])('is refused where FLAC %s', async (_what, damage) => {
    await expect(measured(damage(fixtureFile('beeps.flac')))).rejects.toThrow(
      /^is damaged or cut: only \d\.\d of 10\.0 s can be decoded$/,
    );
  });
});
