import { describe, expect, it } from 'vitest';
import type { Format } from '../../src/audio/formats.ts';
import { createVerifier } from '../../src/audio/verify.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import {
  apeTag,
  id3v1,
  id3v2,
  infoFrame,
  mp3Of,
  oggOf,
  oggPage,
  opusOf,
  wavOf,
} from './samples.ts';
import { verifyBytes } from './verify-bytes.ts';

const mp3 = await mp3Of(1.3);
const ogg = await oggOf(1.3);
const wav = wavOf(1.3);
const mp3At24k = await mp3Of(0.9, { sampleRate: 24_000 });
const mp3At48k = await mp3Of(0.9, { sampleRate: 48_000, bitrate: 128 });
const oggAt24k = await oggOf(0.7, 24_000);

describe('the verdict agrees with a decoder', () => {
  it.each([
    ['mp3', mp3, 44_100],
    ['mp3', mp3At24k, 24_000],
    ['mp3', mp3At48k, 48_000],
    ['ogg', ogg, 44_100],
    ['ogg', oggAt24k, 24_000],
    ['wav', wav, 24_000],
  ] satisfies [Format, Buffer, number][])('%s (%#)', async (format, bytes, sampleRate) => {
    const verdict = verifyBytes(format, bytes);
    const decoded = await decodeAudio(bytes);
    expect(verdict).toMatchObject({ format, bytes: bytes.length, sampleRate, channels: 1 });
    expect(verdict).toMatchObject({ complete: true, problem: undefined });
    expect(verdict.sampleRate).toBe(decoded.sampleRate);
    expect(verdict.durationMs).toBeCloseTo(decoded.durationMs, 6);
  });

  it('the duration of an mp3 with an Info tag excludes the padding', async () => {
    const frames = mp3Frames(mp3);
    const total = frames * 1152;
    const spoken = Math.round(1.3 * 44_100);
    const tag = infoFrame({
      frames,
      bytes: mp3.length + 208,
      delay: 576,
      padding: total - spoken - 576,
    });
    const tagged = Buffer.concat([tag, mp3]);
    const verdict = verifyBytes('mp3', tagged);
    expect(verdict).toMatchObject({ complete: true, endIsProven: true });
    expect(verdict.durationMs).toBeCloseTo((spoken / 44_100) * 1000, 6);
    expect((await decodeAudio(tagged)).durationMs).toBeCloseTo((spoken / 44_100) * 1000, 6);
  });
});

function mp3Frames(bytes: Uint8Array): number {
  const { durationMs = 0 } = verifyBytes('mp3', bytes);
  return Math.round(((durationMs ?? 0) * 44.1) / 1152);
}

describe('an mp3', () => {
  it('may have tags before, between and after its frames', () => {
    const bytes = Buffer.concat([id3v2(700), mp3, id3v2(9), mp3, apeTag(90), id3v1()]);
    const verdict = verifyBytes('mp3', bytes);
    expect(verdict.problem).toBeUndefined();
    expect(verdict.durationMs).toBeCloseTo(2 * (verifyBytes('mp3', mp3).durationMs ?? 0), 6);
  });

  it('may change its sample rate, as a joined file does', async () => {
    const other = await mp3Of(0.5, { sampleRate: 24_000 });
    const verdict = verifyBytes('mp3', Buffer.concat([mp3, other]));
    const apart = [mp3, other].map((part) => verifyBytes('mp3', part).durationMs ?? 0);
    expect(verdict.problem).toBeUndefined();
    expect(verdict.durationMs).toBeCloseTo(
      apart.reduce((sum, one) => sum + one, 0),
      6,
    );
  });

  it('may have nothing else between its frames', () => {
    const stray = Buffer.concat([mp3, Buffer.from('hello'), mp3]);
    expect(verifyBytes('mp3', stray).problem).toBe(
      `has bytes that are not mp3 at offset ${mp3.length}`,
    );
  });

  it('that is cut between two frames is detected by the counts of an Info tag only', () => {
    const frames = mp3Frames(mp3);
    const cut = lastFrameOf(mp3);
    expect(verifyBytes('mp3', mp3.subarray(0, cut))).toMatchObject({
      complete: true,
      endIsProven: false,
    });
    const tag = infoFrame({ frames, bytes: mp3.length + 208, delay: 0, padding: 0 });
    const tagged = Buffer.concat([tag, mp3]).subarray(0, 208 + cut);
    expect(verifyBytes('mp3', tagged).problem).toBe(
      `is cut: it has ${frames - 1} of ${frames} frames`,
    );
  });

  it('whose tag counts its own frame is complete', () => {
    const tag = infoFrame({ frames: mp3Frames(mp3) + 1, delay: 0, padding: 0 });
    expect(verifyBytes('mp3', Buffer.concat([tag, mp3])).problem).toBeUndefined();
  });

  it('needs audio frames, not only tags', () => {
    expect(verifyBytes('mp3', id3v2(40)).problem).toBe('has no audio frame');
    const tag = infoFrame({ frames: 0, delay: 0, padding: 0 });
    expect(verifyBytes('mp3', tag).problem).toBe('has no audio frame');
  });
});

function lastFrameOf(bytes: Buffer): number {
  let last = bytes.length - 1;
  while (verifyBytes('mp3', bytes.subarray(0, last)).problem !== undefined) last -= 1;
  return last;
}

describe('a WAV', () => {
  it.each([0, 0xffff_ffff, 0x7fff_ffff, 0x7fff_f000])(
    'with the stream length %d extends to the end',
    (length) => {
      const stream = Buffer.from(wav);
      stream.writeUInt32LE(length, 4);
      stream.writeUInt32LE(length, 40);
      const verdict = verifyBytes('wav', stream);
      expect(verdict).toMatchObject({ complete: true, endIsProven: false });
      expect(verdict.durationMs).toBeCloseTo(1300, 6);
      expect(verifyBytes('wav', stream.subarray(0, -1)).problem).toBe(
        'is cut: it ends inside a sample',
      );
    },
  );

  it('with an empty length extends to the end', () => {
    const stream = Buffer.from(wav);
    stream.writeUInt32LE(36, 4);
    stream.writeUInt32LE(0, 40);
    expect(verifyBytes('wav', stream).durationMs).toBeCloseTo(1300, 6);
  });

  it.each([
    [0, 0],
    [36, 0],
    [0xffff_ffff, 0xffff_ffff],
    [0x7fff_fffe, 0x7fff_ffda],
    [0, 0xffff_ffff],
  ])('with the lengths %d and %d gets corrections', (whole, samples) => {
    const stream = Buffer.from(wav);
    stream.writeUInt32LE(whole, 4);
    stream.writeUInt32LE(samples, 40);
    for (const { position, bytes } of verifyBytes('wav', stream).corrections) {
      stream.set(bytes, position);
    }
    expect(stream.equals(wav)).toBe(true);
  });

  it('with true lengths, or with a problem, gets no corrections', () => {
    expect(verifyBytes('wav', wav).corrections).toEqual([]);
    const cut = Buffer.from(wav.subarray(0, -1));
    cut.writeUInt32LE(0xffff_ffff, 40);
    expect(verifyBytes('wav', cut)).toMatchObject({ complete: false, corrections: [] });
  });

  it('may have other chunks around its samples, and lack the last padding byte', () => {
    const list = Buffer.from('LIST\x05\0\0\0hello\0', 'latin1');
    const whole = Buffer.concat([wav, list]);
    whole.writeUInt32LE(whole.length - 8, 4);
    expect(verifyBytes('wav', whole)).toMatchObject({ complete: true, endIsProven: true });
    expect(verifyBytes('wav', whole.subarray(0, -1)).problem).toBeUndefined();
    expect(verifyBytes('wav', whole.subarray(0, -2)).problem).toBe(
      'is cut: it ends inside a chunk',
    );
    expect(verifyBytes('wav', whole.subarray(0, wav.length)).problem).toBe(
      'is cut: it ends inside a chunk',
    );
  });

  it('is not followed by a second one', () => {
    expect(verifyBytes('wav', Buffer.concat([wav, wav])).problem).toBe(
      `has bytes that are not a WAV chunk at offset ${wav.length}`,
    );
  });

  it('needs samples, and a format before them', () => {
    const empty = wavOf(0);
    expect(verifyBytes('wav', empty).problem).toBe('has no samples');
    const formatless = Buffer.concat([wav.subarray(0, 12), wav.subarray(36)]);
    expect(verifyBytes('wav', formatless).problem).toBe('has samples before their format');
    const silent = Buffer.from(wav);
    silent.writeUInt32LE(0, 24);
    expect(verifyBytes('wav', silent).problem).toBe('has an invalid WAV format');
  });
});

describe('an Ogg', () => {
  it('has a codec and a duration', () => {
    expect(verifyBytes('ogg', ogg)).toMatchObject({ codec: 'vorbis', endIsProven: true });
    expect(verifyBytes('opus', opusOf(50))).toMatchObject({
      codec: 'opus',
      durationMs: 1000,
      sampleRate: 48_000,
      channels: 1,
      problem: undefined,
    });
  });

  it('may have any codec, but as opus only Opus', () => {
    expect(verifyBytes('ogg', opusOf(5)).problem).toBeUndefined();
    expect(verifyBytes('opus', ogg).problem).toBe('is Ogg with vorbis sound, not opus');
  });

  it('may continue with another stream, and has the duration of both', () => {
    const chained = Buffer.concat([opusOf(50, 1), opusOf(25, 2)]);
    expect(verifyBytes('opus', chained)).toMatchObject({ durationMs: 1500, complete: true });
  });

  it('is damaged by any wrong bit', () => {
    const whole = opusOf(4);
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      expect(verifyBytes('opus', damaged).complete, `byte ${at}`).toBe(false);
    }
  });

  it('must have all pages in order', () => {
    const pages = [0, 1, 2, 3].map((sequence) =>
      oggPage({
        sequence,
        granule: BigInt(sequence * 960),
        flags: sequence === 0 ? 2 : sequence === 3 ? 4 : 0,
        packets: [sequence === 0 ? opusOf(1).subarray(28, 47) : Buffer.alloc(90)],
      }),
    );
    const [first, second, third, last] = pages;
    if (!first || !second || !third || !last) throw new Error('four pages were made');
    expect(verifyBytes('opus', Buffer.concat(pages)).problem).toBeUndefined();
    expect(verifyBytes('opus', Buffer.concat([first, third, last])).problem).toBe(
      `is missing an Ogg page before offset ${first.length}`,
    );
    expect(verifyBytes('opus', Buffer.concat([first, second, third])).problem).toBe(
      'is cut: its last Ogg page is missing',
    );
    expect(verifyBytes('opus', Buffer.concat([second, third, last])).problem).toBe(
      'has an Ogg page without a stream at offset 0',
    );
    expect(verifyBytes('opus', Buffer.concat([...pages, Buffer.from('junk')])).complete).toBe(
      false,
    );
  });
});

describe('raw samples', () => {
  it('have a duration if their layout is known', () => {
    const pcm = { sampleRate: 24_000, channels: 1, bitDepth: 16 };
    expect(verifyBytes('pcm', Buffer.alloc(48_000), { pcm }).durationMs).toBe(1000);
    expect(verifyBytes('pcm', Buffer.alloc(48_000)).durationMs).toBeUndefined();
    expect(verifyBytes('pcm', Buffer.alloc(47_999)).problem).toBe(
      'is cut: it ends inside a sample',
    );
    expect(verifyBytes('pcm', Buffer.alloc(0)).problem).toBe('is empty');
  });

  it('do not begin with the signature of another format', () => {
    expect(verifyBytes('pcm', wav).problem).toMatch(
      /^is wav, not pcm; it begins with 52 49 46 46 /,
    );
  });
});

describe('another format is named, with its first bytes', () => {
  it.each([
    [
      'mp3',
      '<!DOCTYPE html><html>',
      /^is html, not mp3; it begins with 3c 21 44 4f( [0-9a-f]{2}){12}$/,
    ],
    ['wav', '{"error":"no"}', /^is json, not wav; it begins with 7b 22 /],
    ['ogg', 'Hello there, this is no sound', /^is not ogg; it begins with 48 65 6c 6c 6f /],
    ['opus', 'RIFF\x10\0\0\0WAVEfmt and so on, long enough', /^is wav, not opus;/],
    ['flac', 'OggS and so on, long enough', /^is ogg, not flac;/],
    ['mp3', '', /^is empty$/],
    ['wav', '', /^is empty$/],
    ['ogg', '', /^is empty$/],
    ['flac', '', /^is empty$/],
    ['flac', 'fL', /^is cut: only its first bytes arrived$/],
    ['opus', 'OggS', /^is cut: only its first bytes arrived$/],
  ] satisfies [Format, string, RegExp][])('%s: %j', (format, content, problem) => {
    expect(verifyBytes(format, Buffer.from(content, 'latin1')).problem).toMatch(problem);
  });

  it('before the end, so that reading can stop', () => {
    const verifier = createVerifier('mp3');
    expect(verifier.problem).toBeUndefined();
    verifier.write(Buffer.from('<!DOC'));
    expect(verifier.problem).toMatch(/^is html, not mp3/);
  });

  it('a format without a parser needs only its signature', () => {
    expect(verifyBytes('flac', Buffer.from('fLaC and so on'))).toMatchObject({
      complete: true,
      endIsProven: false,
      durationMs: undefined,
    });
  });
});
