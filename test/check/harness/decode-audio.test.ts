import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createMp3Encoder, createOggEncoder } from 'wasm-media-encoders';
import { decodeAudio, isSilent, loudness, peak } from '../../harness/decode-audio.ts';
import { mp3Frames } from '../../harness/mp3-frames.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { checkWithMpg123, probeWithFfprobe } from '../../harness/second-opinion.ts';
import { readWav, writeWav } from '../../harness/wav.ts';

const RATE = 22_050;

/** Half a second of a tone at half of full scale. */
const tone = Float32Array.from(
  { length: RATE / 2 },
  (_, n) => 0.5 * Math.sin((2 * Math.PI * 440 * n) / RATE),
);

async function encode(format: 'mp3' | 'ogg' | 'wav', samples = tone): Promise<Buffer> {
  if (format === 'wav') {
    return writeWav(samples, RATE);
  }
  const encoder = await (format === 'mp3' ? createMp3Encoder() : createOggEncoder());
  encoder.configure({ channels: 1, sampleRate: RATE });
  // The encoder reuses its output buffer: copy before the next call.
  const body = Buffer.from(encoder.encode([samples]));
  return Buffer.concat([body, encoder.finalize()]);
}

test.each(['mp3', 'ogg', 'wav'] as const)('%s is decoded to what went in', async (format) => {
  const audio = await decodeAudio(await encode(format));
  expect(audio).toMatchObject({ format, sampleRate: RATE });
  expect(audio.durationMs).toBeGreaterThan(480);
  expect(audio.durationMs).toBeLessThan(620);
  expect(peak(audio)).toBeCloseTo(0.5, 1);
  expect(isSilent(audio)).toBe(false);
});

test('loudness is the root mean square in dB below full scale', async () => {
  const audio = await decodeAudio(await encode('wav'));
  expect(loudness(audio)).toBeCloseTo(20 * Math.log10(0.5 / Math.SQRT2), 1);
});

test.each(['mp3', 'ogg', 'wav'] as const)('silence in %s is heard as silence', async (format) => {
  expect(isSilent(await decodeAudio(await encode(format, new Float32Array(RATE))))).toBe(true);
});

test('what is not audio is refused', async () => {
  await expect(decodeAudio(Buffer.from('{"code":"x"}'))).rejects.toThrow(/Not audio/);
  await expect(decodeAudio(new Uint8Array())).rejects.toThrow(/Not audio/);
  await expect(decodeAudio(Buffer.from('ID3 and nothing more'))).rejects.toThrow();
});

test('a wav whose lengths lie is refused', async () => {
  const good = await encode('wav');
  expect(() => readWav(good.subarray(0, -2))).toThrow(/RIFF length/);
  expect(() => readWav(Buffer.concat([good, Buffer.from([0])]))).toThrow(/RIFF length/);
  const longData = Buffer.from(good);
  longData.writeUInt32LE(good.length, 40);
  expect(() => readWav(longData)).toThrow(/data is cut/);
  const streaming = Buffer.from(good);
  streaming.writeUInt32LE(0xffff_ffff, 40);
  expect(() => readWav(streaming)).toThrow(/data is cut/);
});

test('an mp3 with rubbish in the middle does not decode cleanly', async () => {
  const bad = await encode('mp3');
  bad.fill(0x55, 1000, 1400);
  await expect(decodeAudio(bad)).rejects.toThrow(/cleanly/);
});

test('an mp3 is walked frame by frame, past a tag and to its very end', async () => {
  const good = await encode('mp3');
  const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5]);
  const frames = mp3Frames(Buffer.concat([tag, good]));
  expect(frames.length).toBeGreaterThan(15);
  expect(frames[0]).toMatchObject({ offset: 15, sampleRate: RATE, samples: 576 });
  expect(() => mp3Frames(good.subarray(0, -1))).toThrow(/last frame is cut/);
  expect(() => mp3Frames(Buffer.concat([good, Buffer.from('x')]))).toThrow(/no frame at byte/);
});

test.each([
  ['mp3', 'mp3'],
  ['ogg', 'vorbis'],
  ['wav', 'pcm_s16le'],
] as const)('ffprobe agrees on %s', async (format, codec) => {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, `a.${format}`);
  await writeFile(file, await encode(format));
  const probe = await probeWithFfprobe(file);
  expect(probe).toMatchObject({ codec, sampleRate: RATE });
  expect(probe.durationMs).toBeGreaterThan(450);
  expect(probe.durationMs).toBeLessThan(650);
});

test('mpg123 accepts a good mp3 and complains of a bad one', async () => {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'a.mp3');
  await writeFile(file, await encode('mp3'));
  await checkWithMpg123(file);
  await writeFile(file, 'no mp3');
  await expect(checkWithMpg123(file)).rejects.toThrow();
});
