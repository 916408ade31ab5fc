import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createJoiner } from '../../../src/audio/join/join.ts';
import { UniformMp3 } from '../../../src/audio/join/uniform-mp3.ts';
import { readMp3InfoTag, parseMp3Frame } from '../../../src/audio/mp3.ts';
import { concatSamples } from '../../../src/audio/resample.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { mp3Frames } from '../../harness/mp3-frames.ts';
import { checkWithMpg123, probeWithFfprobe } from '../../harness/second-opinion.ts';
import { id3v1, id3v2, mp3Of, oggOf, wavOf } from '../samples.ts';
import { join, joinAs, partOf } from './parts.ts';
import { verifyBytes } from '../verify-bytes.ts';

/** Two long parts with a short one between them, which has a single page of sound. */
const LENGTHS = [40_003, 3_001, 61_234];
const KINDS = ['file', 'stream'] as const;

async function partsOf(format: 'mp3' | 'wav' | 'ogg', kind: 'file' | 'stream') {
  return Promise.all(LENGTHS.map((samples) => partOf(format, samples, kind)));
}

async function samplesOf(bytes: Uint8Array): Promise<Float32Array> {
  const { channels } = await decodeAudio(bytes);
  // A copy: a freed decoder frees its memory.
  return Float32Array.from(channels[0] ?? []);
}

async function temporaryFile(name: string, bytes: Uint8Array): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-join-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return file;
}

describe.each(['mp3', 'wav', 'pcm'] as const)('a joined %s', (format) => {
  test('does not depend on the chunks of its parts', async () => {
    const parts =
      format === 'pcm' ? [Buffer.from('abcd'), Buffer.from('ef')] : await partsOf(format, 'file');
    const whole = join(format, parts);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), (chunkBytes) => {
        expect(join(format, parts, { chunkBytes }).equals(whole)).toBe(true);
      }),
      { numRuns: 8 },
    );
  });
});

describe.each(KINDS)('parts that are each a %s', (kind) => {
  test('as wav have true lengths and all samples', async () => {
    const parts = await partsOf('wav', kind);
    const whole = join('wav', parts);
    expect(verifyBytes('wav', whole)).toMatchObject({ complete: true, endIsProven: true });
    expect(whole.subarray(44).equals(Buffer.concat(parts.map((part) => part.subarray(44))))).toBe(
      true,
    );
    expect((await samplesOf(whole)).length).toBe(LENGTHS.reduce((sum, one) => sum + one));
  });

  test('as mp3 have the frames of all parts, and one Info tag', async () => {
    const parts = await partsOf('mp3', kind);
    const whole = join('mp3', parts);
    const isTagged = kind === 'file';
    const frames = parts.map((part) => mp3Frames(part).length - (isTagged ? 1 : 0));
    const sum = frames.reduce((a, b) => a + b);
    expect(mp3Frames(whole).length).toBe(sum + 1);
    expect(verifyBytes('mp3', whole)).toMatchObject({ complete: true, endIsProven: true });
    const tags = mp3Frames(whole).filter(({ offset, length }) =>
      /Info|Xing/.test(whole.subarray(offset, offset + Math.min(length, 64)).toString('latin1')),
    );
    expect(tags.map(({ offset }) => offset)).toEqual([0]);
    const first = parseMp3Frame(whole, 0);
    const tag = first && readMp3InfoTag(whole.subarray(0, first.length), first);
    const last = parts.at(-1);
    const lastFrame = last && parseMp3Frame(last, 0);
    expect(tag).toMatchObject({
      frames: sum,
      bytes: whole.length,
      delay: isTagged ? 576 : 0,
      padding: (isTagged && last && lastFrame && readMp3InfoTag(last, lastFrame)?.padding) || 0,
    });
    const added = (tag?.delay ?? 0) + (tag?.padding ?? 0);
    const decoded = await samplesOf(whole);
    // With the length but without the padding, decoders drop their own delay.
    expect(decoded.length).toBe(sum * 576 - (isTagged ? added : 529));
    const file = await temporaryFile('whole.mp3', whole);
    await checkWithMpg123(file);
    const probed = Math.round(((await probeWithFfprobe(file)).durationMs / 1000) * 24_000);
    // Some releases count the padding of the encoder, others do not.
    expect(Math.abs(probed - (sum * 576 - added))).toBeLessThanOrEqual(added + 1);
  });

  test('as mp3 decode like each part, except where two meet', async () => {
    const parts = (await partsOf('mp3', kind)).map((part) =>
      kind === 'file' ? part.subarray(mp3Frames(part)[0]?.length) : part,
    );
    const decoded = await samplesOf(join('mp3', parts, { isSeekable: false }));
    const expected = concatSamples(await Promise.all(parts.map((part) => samplesOf(part))));
    expect(decoded.length).toBe(expected.length);
    // The end of one part fades into the first two frames of the next, which are the encoder's silence.
    const seams = parts.map((part) => mp3Frames(part).length * 576);
    const inSeam = (at: number): boolean => {
      const second = seams[0] ?? 0;
      return [second, second + (seams[1] ?? 0)].some((seam) => at >= seam && at < seam + 1152);
    };
    const off = expected.map((sample, at) => (inSeam(at) ? 0 : sample - (decoded[at] ?? NaN)));
    // Far less than a step of 16 bits; the decoder's rounding depends on the position.
    expect(off.reduce((most, one) => Math.max(most, Math.abs(one)), 0)).toBeLessThan(1e-6);
  });

  test('as ogg are one stream with the whole length', async () => {
    const parts = await partsOf('ogg', kind);
    const { starts, whole } = await joinAs('ogg', parts);
    const sounds = await Promise.all(parts.map((part) => samplesOf(part)));
    const [first = 0, second = 0] = sounds.map(({ length }) => length);
    const sum = sounds.reduce((total, { length }) => total + length, 0);
    expect(starts).toEqual([0, first, first + second].map((one) => (one / 44_100) * 1000));
    const verdict = verifyBytes('ogg', whole);
    expect(verdict).toMatchObject({ complete: true, endIsProven: true, codec: 'vorbis' });
    expect(Math.round(((verdict.durationMs ?? 0) / 1000) * 44_100)).toBe(sum);
    const joined = await samplesOf(whole);
    expect(joined.length).toBe(sum);
    // The sound is encoded a second time.
    const off = concatSamples(sounds).map((sample, at) => sample - (joined[at] ?? 0));
    expect(Math.sqrt(off.reduce((total, one) => total + one * one, 0) / sum)).toBeLessThan(0.02);
    expect(whole.toString('latin1').match(/OggS\0[\x02-\x03]/g)).toHaveLength(1);
    const probed = await probeWithFfprobe(await temporaryFile('whole.ogg', whole));
    expect(Math.round((probed.durationMs / 1000) * 44_100)).toBe(sum);
  });
});

test('a wav stream has an unknown length, and an mp3 stream no tag', async () => {
  const wav = join('wav', await partsOf('wav', 'stream'), { isSeekable: false });
  expect([4, 40].map((at) => wav.readUInt32LE(at))).toEqual([0xffff_ffff, 0xffff_ffff]);
  expect(verifyBytes('wav', wav)).toMatchObject({ complete: true, endIsProven: false });
  const mp3 = join('mp3', await partsOf('mp3', 'file'), { isSeekable: false });
  expect(mp3.toString('latin1')).not.toMatch(/Info|Xing/);
});

test('tags of an mp3 and other chunks of a wav are dropped', async () => {
  const mp3 = await mp3Of(0.5);
  const tagged = Buffer.concat([id3v2(300), mp3, id3v1()]);
  expect(join('mp3', [tagged, tagged], { isSeekable: false })).toEqual(Buffer.concat([mp3, mp3]));
  const wav = wavOf(0.1);
  const list = Buffer.from('LIST\x03\x00\x00\x00abc\x00', 'latin1');
  const chunky = Buffer.concat([wav.subarray(0, 36), list, wav.subarray(36), list]);
  chunky.writeUInt32LE(chunky.length - 8, 4);
  expect(join('wav', [chunky, wav])).toEqual(join('wav', [wav, wav]));
});

test('an mp3 with small frames gets a larger one for its tag', async () => {
  const small = await mp3Of(1, { sampleRate: 24_000, bitrate: 64 });
  const whole = join('mp3', [small, small]);
  expect(verifyBytes('mp3', whole)).toMatchObject({ complete: true, endIsProven: true });
});

test('different parts are refused', async () => {
  const refused = /cannot be joined/;
  const [mp3, other] = [await mp3Of(0.2), await mp3Of(0.2, { sampleRate: 24_000 })];
  expect(() => join('mp3', [mp3, other])).toThrow(refused);
  expect(() => join('wav', [wavOf(0.1), wavOf(0.1, 16_000)])).toThrow(refused);
  const [ogg, otherOgg] = [await oggOf(0.2), await oggOf(0.2, 24_000)];
  await expect(joinAs('ogg', [ogg, otherOgg])).rejects.toThrow(refused);
  const text = Buffer.from('{"error":"none of these is audio, at all"}');
  for (const format of ['mp3', 'wav', 'ogg'] as const) {
    await expect(joinAs(format, [text])).rejects.toThrow(refused);
  }
});

test.each([7, 100_000])(
  'a part of another sample rate is encoded again, from chunks of %i bytes',
  async (chunkBytes) => {
    const [own, other] = [await partOf('mp3', 16_000, 'file'), await mp3Of(1)];
    const parts = [own, Buffer.concat([id3v2(300), other]), own];
    const uniform = new UniformMp3();
    const joiner = createJoiner('mp3', { isSeekable: false });
    const whole: Uint8Array[] = [];
    for (const part of parts) {
      for (let at = 0; at < part.length; at += chunkBytes) {
        // The memory of a chunk is reused.
        const chunk = Buffer.from(part.subarray(at, at + chunkBytes));
        for (const bytes of uniform.write(chunk)) whole.push(...joiner.write(bytes));
        if (chunkBytes < 100) chunk.fill(0);
      }
      for (const bytes of await uniform.endPart()) whole.push(...joiner.write(bytes));
      whole.push(...joiner.endPart());
    }
    whole.push(...joiner.end());
    const joined = Buffer.concat(whole);
    expect(verifyBytes('mp3', joined)).toMatchObject({ complete: true, sampleRate: 24_000 });
    const own576 = mp3Frames(own).length - 1;
    const again = mp3Frames(joined).length - 2 * own576;
    const seconds = (again * 576) / 24_000 - (mp3Frames(other).length * 1152) / 44_100;
    // The delays of the encoder.
    expect(Math.abs(seconds)).toBeLessThan(0.1);
    const samples = await samplesOf(joined);
    const middle = samples.subarray((own576 + 10) * 576, (own576 + 30) * 576);
    const [found, expected] = [middle, (await samplesOf(other)).subarray(11_520, 23_040)].map(
      (sound) => Math.sqrt(sound.reduce((sum, one) => sum + one * one, 0) / sound.length),
    );
    expect((found ?? 0) / (expected ?? 1)).toBeCloseTo(1, 1);
  },
);

test('a wav above 4 GiB is refused, unless it is a stream', () => {
  const head = wavOf(0).subarray(0, 44);
  head.writeUInt32LE(0xffff_ffff, 40);
  const block = new Uint8Array(4 * 1024 * 1024);
  const fill = (isSeekable: boolean) => () => {
    const joiner = createJoiner('wav', { isSeekable });
    joiner.write(head);
    joiner.write(block);
    joiner.endPart();
    // Silence is counted without being made. 24,000 samples of 2 bytes are a second.
    joiner.addSilence((1_022.5 * block.length) / 48);
    expect(() => joiner.write(Buffer.concat([head, block.subarray(0, 2)]))).not.toThrow();
    joiner.write(block);
  };
  expect(fill(true)).toThrow('4 GiB');
  expect(fill(false)).not.toThrow();
});
