import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { hearFiles } from '../../../src/service/voices/listen/hear-files.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { silentFlac } from '../../harness/silent-flac.ts';
import { writeWav } from '../../harness/wav.ts';
import { FUZZ_RUNS } from '../../service/support/fuzz-size.ts';
import { temporaryFolder } from '../../service/support/test-service.ts';

const RUNS = Math.ceil(FUZZ_RUNS / 4);
const { samples, sampleRate } = referenceVoice({ medianHz: 140, seconds: 0.6 });

async function* chunks() {
  yield { samples, sampleRate };
}

async function encoded(format: 'mp3' | 'ogg' | 'opus'): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const bytes of encodeSpeech(format, chunks())) parts.push(bytes);
  return Buffer.concat(parts);
}

/** Bytes overwritten, cut out or doubled, at some places. */
function damaged(right: Buffer): fc.Arbitrary<Buffer> {
  const damage = fc.record({
    at: fc.nat(right.length - 1),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }),
    way: fc.constantFrom('over', 'out', 'in'),
  });
  return fc.array(damage, { minLength: 1, maxLength: 4 }).map((all) => {
    let bytes = right;
    for (const { at, bytes: others, way } of all) {
      const behind = way === 'in' ? at : at + others.length;
      const middle = way === 'out' ? [] : [others];
      bytes = Buffer.concat([bytes.subarray(0, at), ...middle, bytes.subarray(behind)]);
    }
    return bytes;
  });
}

describe('a file that is damaged in any way', () => {
  it.each([
    ['wav', async () => writeWav(samples, sampleRate)],
    ['flac', async () => silentFlac({ seconds: 60 })],
    ['mp3', () => encoded('mp3')],
    ['ogg', () => encoded('ogg')],
    ['opus', () => encoded('opus')],
  ] as const)(
    'is heard or refused, as %s, and breaks nothing',
    { timeout: 120_000 },
    async (_kind, make) => {
      const right = await make();
      const path = join(await temporaryFolder(), 'file');
      await fc.assert(
        fc.asyncProperty(damaged(right), async (bytes) => {
          const fd = openSync(path, 'w+');
          try {
            writeSync(fd, bytes);
            const { kind } = await hearFiles([{ fd, size: bytes.length }]);
            expect(kind).toMatch(/^(heard|refused)$/);
          } finally {
            closeSync(fd);
          }
        }),
        { numRuns: RUNS },
      );
    },
  );
});
