import { readFileSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { detectSound } from '../../src/audio/decode.ts';
import { temporaryFolder } from '../service/support/test-service.ts';
import { withGain } from './samples.ts';

function fixtureFile(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/media/${name}`, import.meta.url));
}

async function decoded(bytes: Uint8Array) {
  const file = path.join(await temporaryFolder(), 'sound');
  await writeFile(file, bytes);
  const handle = await open(file);
  onTestFinished(() => handle.close());
  const { signal } = new AbortController();
  const { format, decode } = await detectSound({ fd: handle.fd, size: bytes.length }, signal);
  const sound = { format, rate: 0, samples: 0, channels: 0, peak: 0, values: Array<number>() };
  for await (const { channels, sampleRate } of decode(signal)) {
    const [samples = new Float32Array(0)] = channels;
    if (samples.length === 0) continue;
    sound.rate = sampleRate;
    sound.channels = channels.length;
    sound.samples += samples.length;
    sound.peak = samples.reduce((most, one) => Math.max(most, Math.abs(one)), sound.peak);
    if (sound.values.length < 100) sound.values.push(...samples.subarray(0, 100));
  }
  return sound;
}

describe('an Ogg file', () => {
  test.each(['beeps.opus', 'beeps.ogg'])(
    'of three chained streams is decoded: %s',
    async (name) => {
      const one = await decoded(fixtureFile(name));
      const chained = await decoded(
        Buffer.concat([fixtureFile(name), fixtureFile(name), fixtureFile(name)]),
      );
      expect(chained).toMatchObject({ rate: one.rate, samples: 3 * one.samples });
    },
  );

  test.each([-12, 6])('has the output gain of Opus applied: %d dB', async (gainDb) => {
    const plain = await decoded(fixtureFile('beeps.opus'));
    const louder = await decoded(withGain(fixtureFile('beeps.opus'), gainDb));
    expect(20 * Math.log10(louder.peak / plain.peak)).toBeCloseTo(gainDb, 3);
    expect(louder.samples).toBe(plain.samples);
  });
});

describe('an abort while a long Ogg file is read', () => {
  const opus = fixtureFile('beeps.opus');

  async function openLong(streams: number) {
    const file = path.join(await temporaryFolder(), 'sound');
    await writeFile(file, Buffer.concat(Array<Buffer>(streams).fill(opus)));
    const handle = await open(file);
    onTestFinished(() => handle.close());
    return { fd: handle.fd, size: opus.length * streams };
  }

  test('stops decoding within 30 seconds of sound', async () => {
    const sound = await detectSound(await openLong(12), new AbortController().signal);
    const abort = new AbortController();
    let samples = 0;
    const decode = async (): Promise<void> => {
      for await (const { channels } of sound.decode(abort.signal)) {
        if (samples === 0) setImmediate(() => abort.abort(new Error('stopped')));
        samples += channels[0]?.length ?? 0;
      }
    };
    await expect(decode()).rejects.toThrow('stopped');
    expect(samples / 48_000).toBeLessThan(30);
  });

  test('stops checking the pages', async () => {
    const abort = new AbortController();
    const detecting = detectSound(await openLong(2_400), abort.signal);
    setImmediate(() => abort.abort(new Error('stopped')));
    await expect(detecting).rejects.toThrow('stopped');
  });
});

/** A wav file of 8,000 samples a second, with one byte a sample. */
function telephoneWav(kind: number, codes: readonly number[]): Buffer {
  const wav = Buffer.alloc(46);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(38 + codes.length, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(18, 16);
  wav.writeUInt16LE(kind, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8_000, 24);
  wav.writeUInt32LE(8_000, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write('data', 38);
  wav.writeUInt32LE(codes.length, 42);
  return Buffer.concat([wav, Buffer.from(codes)]);
}

describe('a wav file of telephone sound', () => {
  // From the tables of ITU-R G.711, as 16-bit samples.
  test.each([
    ['A-law', 6, [0xd5, 0x55, 0xaa, 0x2a, 0x80, 0x00], [8, -8, 32_256, -32_256, 5_504, -5_504]],
    ['mu-law', 7, [0xff, 0x7f, 0x80, 0x00, 0xf0, 0x70], [0, 0, 32_124, -32_124, 120, -120]],
  ])('is decoded: %s', async (_name, kind, codes, expected) => {
    const { rate, values } = await decoded(telephoneWav(kind, codes));
    expect(rate).toBe(8_000);
    expect(values.map((value) => Math.round(value * 32_768) + 0)).toEqual(expected);
  });
});

/** The frames of a file of MPEG audio, in packets of MPEG-1 or MPEG-2 (ISO/IEC 11172-1, 13818-1). */
function programStream(audio: Buffer, version: 1 | 2): Buffer {
  const pack =
    version === 1
      ? Buffer.from('000001ba210001000180000b', 'hex')
      : Buffer.from('000001ba44000400040100000bfaffff', 'hex');
  const header =
    version === 1
      ? Buffer.from('ffff40202100010001', 'hex')
      : Buffer.from('8080052100010001', 'hex');
  const parts: Buffer[] = [];
  for (let at = 0; at < audio.length; at += 2_000) {
    const payload = Buffer.concat([header, audio.subarray(at, at + 2_000)]);
    const packet = Buffer.from('000001c00000', 'hex');
    packet.writeUInt16BE(payload.length, 4);
    const video = Buffer.from('000001e000030f0000', 'hex');
    parts.push(pack, video, packet, payload);
  }
  return Buffer.concat([...parts, Buffer.from('000001b9', 'hex')]);
}

describe('an MPEG program stream', () => {
  test.each([1, 2] as const)('of MPEG-%d has its sound decoded', async (version) => {
    const mp3 = fixtureFile('beeps.mp3');
    const plain = await decoded(mp3);
    const contained = await decoded(programStream(mp3, version));
    expect(contained).toEqual({ ...plain, format: 'mpeg' });
  });

  test.each([
    ['is cut', (stream: Buffer) => stream.subarray(0, 3_000), /^is cut: it ends inside/],
    ['is damaged', (stream: Buffer) => stream.fill(0x55, 4_060, 4_200), /^is damaged: the bytes/],
    ['is video only', () => Buffer.from('000001b31e01e024', 'hex'), /^has no MPEG audio/],
  ])('is refused if it %s', async (_what, change, message) => {
    await expect(decoded(change(programStream(fixtureFile('beeps.mp3'), 2)))).rejects.toThrow(
      message,
    );
  });
});
