import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseMp3Frame, readMp3InfoTag, crc16 } from '../../../src/audio/mp3.ts';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { createFileHead } from '../../../src/audio/encode/file-head.ts';
import type { SpeechChunk } from '../../../src/service/engine/speech-engine.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { checkWithMpg123, probeWithFfprobe } from '../../harness/second-opinion.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

type Format = 'mp3' | 'wav' | 'ogg';

async function* tone(samples: number, sampleRate: number): AsyncGenerator<SpeechChunk> {
  const wave = Float32Array.from({ length: samples }, (_, at) => 0.3 * Math.sin(at / 9));
  yield { samples: wave, sampleRate };
}

/** The file as it is written: the head last, over the beginning. */
async function fileOf(format: Format, samples: number, sampleRate = 16_000): Promise<Buffer> {
  const head = createFileHead(format);
  const parts: Uint8Array[] = [];
  for await (const bytes of encodeSpeech(format, tone(samples, sampleRate))) {
    parts.push(...head.pass(bytes));
  }
  const file = Buffer.concat(parts);
  file.set(head.finish({ samples, sampleRate }) ?? new Uint8Array(0));
  return file;
}

describe.each(['mp3', 'wav', 'ogg'] as const)('a file of %s', (format) => {
  test.each([1, 700, 16_000, 44_100, 100_001])(
    'of %i samples is exactly as long',
    async (count) => {
      const file = await fileOf(format, count);
      expect(verifyBytes(format, file)).toMatchObject({ complete: true, endIsProven: true });
      const { channels, sampleRate } = await decodeAudio(file);
      expect(channels[0]?.length).toBe(Math.round((count * sampleRate) / 16_000));
    },
  );

  test('is decoded to the sample by ffmpeg too, which does not complain', async () => {
    const ffmpeg = requireTool('ffmpeg');
    const folder = await mkdtemp(path.join(tmpdir(), 'foley-head-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const name = path.join(folder, `speech.${format}`);
    await writeFile(name, await fileOf(format, 80_003, 22_050));
    const raw = ['-f', 's16le', '-ac', '1', '-v', 'error', '-'];
    const { stdout, stderr } = await execa(ffmpeg, ['-i', name, ...raw], { encoding: 'buffer' });
    const { sampleRate } = await probeWithFfprobe(name);
    expect([stderr.length, stdout.length / 2]).toEqual([
      0,
      Math.round((80_003 * sampleRate) / 22_050),
    ]);
  });
});

describe('the Info tag of an mp3', () => {
  test('says what is in the file', async () => {
    const file = await fileOf('mp3', 100_000);
    const frame = parseMp3Frame(file, 0);
    if (frame === undefined) throw new Error('There is no first frame.');
    const tag = readMp3InfoTag(file.subarray(0, frame.length), frame);
    const samples = Math.round((100_000 * 24_000) / 16_000);
    expect(tag).toMatchObject({ bytes: file.length, delay: 576 });
    expect((tag?.frames ?? 0) * 576 - (tag?.delay ?? 0) - (tag?.padding ?? 0)).toBe(samples);
  });

  test('has the checksums of itself and of the frames after it', async () => {
    const file = await fileOf('mp3', 50_000);
    const frame = parseMp3Frame(file, 0);
    const lame = (frame?.infoOffset ?? 0) + 120;
    expect(file.readUInt16BE(lame + 34)).toBe(crc16(file.subarray(0, lame + 34)));
    expect(file.readUInt16BE(lame + 32)).toBe(crc16(file.subarray(frame?.length)));
    expect(crc16(Buffer.from('123456789'))).toBe(0xbb3d);
  });

  test('is no fault to mpg123', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'foley-head-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const name = path.join(folder, 'speech.mp3');
    await writeFile(name, await fileOf('mp3', 30_000));
    await checkWithMpg123(name);
  });

  test('does not depend on how the encoder hands out its bytes', async () => {
    const chunks: Uint8Array[] = [];
    for await (const bytes of encodeSpeech('mp3', tone(20_000, 16_000))) chunks.push(bytes);
    const stream = Buffer.concat(chunks);
    const whole = await fileOf('mp3', 20_000);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: stream.length })), async (cuts) => {
        const head = createFileHead('mp3');
        const ends = [...cuts.sort((one, other) => one - other), stream.length];
        const parts = ends.map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
        const file = Buffer.concat(parts.flatMap((part) => head.pass(part)));
        file.set(head.finish({ samples: 20_000, sampleRate: 16_000 }) ?? []);
        expect(file.equals(whole)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
