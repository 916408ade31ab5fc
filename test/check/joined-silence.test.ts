import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createJoiner } from '../../src/audio/join/join.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { checkWithMpg123, probeWithFfprobe } from '../harness/second-opinion.ts';
import { verifyBytes } from '../audio/verify-bytes.ts';
import { join, joinAs, joinWith, partOf } from '../audio/join/parts.ts';

const LENGTHS = [16_003, 3_001, 24_234];
/** Milliseconds before each part, and after the last one. */
const SILENCES = [
  [0, 800, 120, 0],
  [300, 90, 1_500, 250],
  [1, 33, 100, 2],
  [60_000, 200, 12_345.5, 0],
];
const FRAMES = { wav: 0, mp3: 576, ogg: 0 } as const;
const RATES = { wav: 16_000, mp3: 24_000, ogg: 44_100 } as const;

async function decoded(bytes: Uint8Array): Promise<Float32Array> {
  const { channels } = await decodeAudio(bytes);
  return Float32Array.from(channels[0] ?? []);
}

async function temporaryFile(name: string, bytes: Uint8Array): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-silence-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return file;
}

function durationOf(format: 'mp3' | 'ogg' | 'wav', bytes: Buffer): number {
  return verifyBytes(format, bytes).durationMs ?? NaN;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

describe.each(['wav', 'mp3', 'ogg'] as const)('silence in a joined %s', (format) => {
  test.each(SILENCES.map((silences) => [silences]))('has its length: %j ms', async (silences) => {
    const rate = RATES[format];
    const expected = sum(silences.map((ms) => Math.round((ms * rate) / 1000)));
    const parts = await Promise.all(LENGTHS.map((samples) => partOf(format, samples, 'file')));
    const lengths = await Promise.all(parts.map(async (part) => (await decoded(part)).length));
    const { whole } = await joinAs(format, parts, { silences });
    expect(verifyBytes(format, whole)).toMatchObject({ complete: true, endIsProven: true });
    // An encoder leaves more silence than a very short pause.
    const seams = format === 'mp3' && silences.includes(33) ? 2 * 1_500 : 0;
    const length = (await decoded(whole)).length;
    expect(length - sum(lengths)).toBeGreaterThanOrEqual(expected - FRAMES[format]);
    expect(length - sum(lengths)).toBeLessThanOrEqual(expected + FRAMES[format] + seams);
    const file = await temporaryFile(`whole.${format}`, whole);
    const probed = ((await probeWithFfprobe(file)).durationMs * rate) / 1000;
    // Some releases of ffprobe count the delay and the padding of an mp3.
    expect(Math.abs(probed - length)).toBeLessThanOrEqual(format === 'mp3' ? 4_096 : 1);
    if (format === 'mp3') await checkWithMpg123(file);
  });

  test('is silent, and the parts start where the joiner says', async () => {
    const silences = [300, 700, 400, 500];
    const parts = await Promise.all(LENGTHS.map((samples) => partOf(format, samples, 'file')));
    const { starts, whole } = await joinAs(format, parts, { silences });
    const samples = await decoded(whole);
    const rate = RATES[format];
    const durations = LENGTHS.map((one) => (one / 16_000) * 1000);
    const tolerance = (FRAMES[format] / rate) * 1000 + 1;
    let at = 0;
    for (const [index, ms] of silences.entries()) {
      const end = index < starts.length ? (starts[index] ?? 0) : at + ms;
      expect(Math.abs(end - at - ms)).toBeLessThanOrEqual(tolerance);
      // A codec smears the sound over some milliseconds.
      const inside = samples.subarray(((at + 50) * rate) / 1000, ((end - 50) * rate) / 1000);
      expect(inside.reduce((most, one) => Math.max(most, Math.abs(one)), 0)).toBeLessThan(0.003);
      const sound = samples.subarray(((end + 20) * rate) / 1000, ((end + 150) * rate) / 1000);
      if (index < starts.length) expect(Math.max(...sound)).toBeGreaterThan(0.2);
      at = end + (durations[index] ?? 0);
    }
  });

  test('does not depend on the chunks of the parts', async () => {
    const parts = await Promise.all(LENGTHS.map((samples) => partOf(format, samples, 'stream')));
    const silences = [20, 30, 0, 40];
    const { whole } = await joinAs(format, parts, { silences });
    const other = await joinAs(format, parts, { silences, chunkBytes: 7 });
    expect(other.whole.equals(whole)).toBe(true);
  });

  test('in a stream is the same to a frame', async () => {
    const silences = [300, 700, 400, 500];
    const parts = await Promise.all(LENGTHS.map((samples) => partOf(format, samples, 'stream')));
    const { whole } = await joinAs(format, parts, { silences, isSeekable: false });
    const ms = durationOf(format, whole) - sum(parts.map((part) => durationOf(format, part)));
    expect(Math.abs(ms - sum(silences))).toBeLessThanOrEqual(
      (FRAMES[format] / RATES[format]) * 1000 + 0.1,
    );
  });
});

test('many pauses in an mp3 do not add up their errors', async () => {
  const part = await partOf('mp3', 3_001, 'file');
  const parts = Array.from({ length: 40 }, () => part);
  const silences = [0, ...parts.map(() => 205)];
  const length = (await decoded(join('mp3', parts, { silences }))).length;
  const expected = 40 * ((await decoded(part)).length + 0.205 * 24_000);
  expect(Math.abs(length - expected)).toBeLessThan(576);
});

test('Opus in Ogg becomes one Vorbis stream of the same length', async () => {
  const parts = await Promise.all(
    [9_000, 20_001].map((samples) => partOf('opus', samples, 'stream')),
  );
  const silences = [250, 333, 40];
  const { whole } = await joinAs('ogg', parts, { silences });
  expect(verifyBytes('ogg', whole)).toMatchObject({ complete: true, codec: 'vorbis' });
  const seconds = sum(parts.map((part) => durationOf('ogg', part))) + sum(silences);
  expect(durationOf('ogg', whole)).toBeCloseTo(seconds, 1);
});

test('silence between raw samples has the rate of the samples, and is zeros', () => {
  const joiner = createJoiner('pcm', { isSeekable: false, sampleRate: () => 8_000 });
  const one = Buffer.alloc(4, 1);
  const whole = joinWith(joiner, [one, one], 3, [0, 1, 0.5]);
  expect(whole).toEqual(Buffer.concat([one, Buffer.alloc(16), one, Buffer.alloc(8)]));
});

test('an hour of silence needs little memory', async () => {
  const part = await partOf('wav', 16_000, 'file');
  const joiner = createJoiner('wav', { isSeekable: true });
  const pieces = [...joiner.write(part), ...joiner.endPart()];
  joiner.addSilence(3_600_000);
  pieces.push(...joiner.end());
  expect(sum(pieces.map(({ length }) => length))).toBe(44 + 2 * 16_000 * 3_601);
  expect(new Set(pieces).size).toBeLessThan(8);
});
