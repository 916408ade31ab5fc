import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { readWav } from '../harness/wav.ts';
import {
  createFixture,
  filesLeft,
  onSpeech,
  outputOf,
  paidAudio,
  RATES,
  speakWith,
  speechRequests,
  spooled,
  VOICE,
} from '../binary/support/fixture.ts';

const { wav } = await paidAudio();
const SAID = readWav(wav.bytes);
const SECONDS = (SAID.channels[0]?.length ?? 0) / SAID.sampleRate;

/** The duration that a file states, the brand of an mp4 file, and its codec. */
async function readFileOf(bytes: Uint8Array) {
  const input = new Input({
    source: new BufferSource(new Uint8Array(bytes)),
    formats: ALL_FORMATS,
  });
  const track = await input.getPrimaryAudioTrack();
  // Mediabunny counts whole packets; the head of an mp4 file states the exact duration.
  const head = Buffer.from(bytes).indexOf('mvhd');
  const seconds =
    head < 0
      ? await input.computeDuration()
      : Buffer.from(bytes).readUInt32BE(head + 20) / Buffer.from(bytes).readUInt32BE(head + 16);
  return { seconds, codec: track?.codec, brand: Buffer.from(bytes).toString('latin1', 8, 12) };
}

async function decodeFlac(bytes: Uint8Array) {
  const decoder = new FLACDecoder();
  await decoder.ready;
  return decoder.decodeFile(new Uint8Array([...bytes, ...new Uint8Array(64)]));
}

/** The samples of a FLAC file as 16-bit numbers; its decoder divides by 32,767. */
async function levelsOfFlac(bytes: Uint8Array): Promise<Buffer> {
  const { channelData } = await decodeFlac(bytes);
  return levelsOf(channelData[0], 0x7fff);
}

function levelsOf(samples: Float32Array = new Float32Array(), scale = 0x8000): Buffer {
  return Buffer.from(Int16Array.from(samples, (sample) => Math.round(sample * scale)).buffer);
}

function streamsOf(ogg: Buffer): number {
  let count = 0;
  for (let at = ogg.indexOf('OggS'); at >= 0; at = ogg.indexOf('OggS', at + 4)) {
    if (((ogg[at + 5] ?? 0) & 2) !== 0) count += 1;
  }
  return count;
}

describe('a format that the service does not make', () => {
  test.each(['flac', 'opus', 'm4a', 'm4b'])('%s is encoded from one wav', async (format) => {
    const fixture = await createFixture([]);
    const result = await fixture.speak(['-o', `hi.${format}`]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr.match(/does not make/g)).toHaveLength(1);
    expect(result.stderr).toContain(`hi.${format}: ${format}`);
    const requests = speechRequests(fixture).map(({ body }) => JSON.parse(body.toString()));
    expect(requests).toEqual([expect.objectContaining({ format: 'wav' })]);
    const bytes = await outputOf(fixture.sandbox, `hi.${format}`);
    const { brand, codec, seconds } = await readFileOf(bytes);
    expect(codec).toBe(format.startsWith('m4') ? 'aac' : format);
    expect(brand).toBe({ m4a: 'M4A ', m4b: 'M4B ' }[format] ?? brand);
    expect(seconds).toBeCloseTo(SECONDS, 4);
    expect(await filesLeft(fixture.sandbox)).toEqual([`out/hi.${format}`, RATES]);
  });

  test('flac has the samples of the wav, and their number and MD5', async () => {
    const fixture = await createFixture([]);
    await fixture.speak(['-o', 'hi.flac']);
    const bytes = await outputOf(fixture.sandbox, 'hi.flac');
    expect((await decodeFlac(bytes)).sampleRate).toBe(SAID.sampleRate);
    expect((await levelsOfFlac(bytes)).equals(levelsOf(SAID.channels[0]))).toBe(true);
    expect(bytes.readUInt32BE(22)).toBe(SAID.channels[0]?.length);
    expect(bytes.subarray(26, 42)).not.toEqual(Buffer.alloc(16));
  });

  test.each(['flac', 'opus', 'ogg'])('%s goes to a pipe, with its header', async (format) => {
    const fixture = await createFixture([]);
    const { code, stdout } = await fixture.run([
      'tts',
      'hi',
      '--format',
      format,
      ...(format === 'ogg' ? ['--api', 'compat-tts', '--local'] : ['-v', VOICE]),
    ]);
    expect(code).toBe(0);
    if (format !== 'flac') {
      const { durationMs } = await decodeAudio(stdout);
      if (format === 'opus') expect(durationMs).toBeCloseTo(SECONDS * 1000, 0);
      return;
    }
    const { channelData, sampleRate } = await decodeFlac(stdout);
    expect(sampleRate).toBe(SAID.sampleRate);
    expect(channelData[0]).toHaveLength(SAID.channels[0]?.length ?? 0);
  });

  test.each([
    [['--format', 'm4a'], /--output is stdout, to which m4a cannot be written/],
    [['--format', 'm4b', '-o', '-'], /--output is stdout, to which m4b cannot be written/],
    [['--format', 'flac', '-o', 'hi'], /requires the extension \.flac/],
    [['--format', 'flac', '-o', 'hi.opus'], /--format is flac/],
  ])('%j is exit 2 and sends nothing', async (args, reason) => {
    const fixture = await createFixture([]);
    const result = await fixture.run(['tts', 'hi', '-v', VOICE, ...args]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(reason);
    expect(fixture.server.requests).toEqual([]);
  });
});

describe('audio that is paid for', () => {
  test('is saved as the wav that the service sent, if it was cut off', async () => {
    const fixture = await createFixture([onSpeech(faults.shortBody(wav))]);
    const result = await fixture.speak(['-o', 'hi.flac']);
    expect(result.code).toBe(25);
    const { audio } = await spooled(fixture.sandbox);
    expect(audio).toEqual(wav.bytes.subarray(0, audio.length));
    expect(await filesLeft(fixture.sandbox)).toEqual([
      'state/foley/spool/ID.json',
      'state/foley/spool/ID.wav',
    ]);
  });

  test('becomes the wanted file when it is recovered', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(wav))]);
    const folder = path.join(fixture.sandbox.out, 'there');
    await mkdir(folder);
    const running = await fixture.start(speakWith(['-o', 'there/hi.flac']));
    await fixture.server.paused();
    await rm(folder, { recursive: true });
    await fixture.server.advance();
    expect((await running.done).code).toBe(30);
    await mkdir(folder);
    const recovered = await fixture.run(['recover']);
    expect(recovered.code, recovered.stderr).toBe(0);
    const levels = await levelsOfFlac(await outputOf(fixture.sandbox, 'there/hi.flac'));
    expect(levels.equals(levelsOf(SAID.channels[0]))).toBe(true);
    expect(speechRequests(fixture)).toHaveLength(1);
  });
});

test('ogg of a text with pauses is one stream', async () => {
  const fixture = await createFixture([]);
  for (const output of ['hi.ogg', 'hi.opus']) {
    const text = 'one [pause 300ms] two';
    const result = await fixture.run(['tts', text, '--pauses', '-v', VOICE, '-o', output]);
    expect(result.code, result.stderr).toBe(0);
    const bytes = await outputOf(fixture.sandbox, output);
    expect(streamsOf(bytes)).toBe(1);
    expect((await decodeAudio(bytes)).durationMs).toBeCloseTo(2 * SECONDS * 1000 + 300, 0);
  }
});

test('live opus of several sentences is one stream', async () => {
  const fixture = await createFixture([]);
  const script = 'echo "One. Two. Three." | foley live --local --format opus > live.opus';
  await fixture.shell(script);
  expect(streamsOf(await outputOf(fixture.sandbox, 'live.opus'))).toBe(1);
});

test('a batch encodes its items, and knows the files again', async () => {
  const fixture = await createFixture([]);
  const list = path.join(fixture.sandbox.out, 'list.jsonl');
  const items = ['a.flac', 'b.wav', 'c.m4b'].map((output) => ({ text: 'hi', output }));
  await writeFile(list, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  const speak = () =>
    fixture.run(['batch', '--jsonl', 'list.jsonl', '--local', '--output-dir', 'audio']);
  const first = await speak();
  expect(first.code, first.stderr).toBe(0);
  const [flac, plain, book] = await Promise.all(
    items.map(({ output }) => outputOf(fixture.sandbox, `audio/${output}`)),
  );
  const said = readWav(plain ?? Buffer.alloc(0)).channels[0];
  expect((await levelsOfFlac(flac ?? Buffer.alloc(0))).equals(levelsOf(said))).toBe(true);
  expect((await readFileOf(book ?? Buffer.alloc(0))).codec).toBe('aac');
  expect((await speak()).stdout.toString()).toContain('0 done, 0 failed, 3 skipped');
});

test('ogg of a batch item with pauses is one stream', async () => {
  const fixture = await createFixture([]);
  await writeFile(path.join(fixture.sandbox.out, 'a.txt'), 'one [pause 300ms] two');
  const flags = ['--pauses', '--local', '--format', 'ogg', '--output-dir', 'audio'];
  const result = await fixture.run(['batch', 'a.txt', ...flags]);
  expect(result.code, result.stderr).toBe(0);
  expect(streamsOf(await outputOf(fixture.sandbox, 'audio/a.ogg'))).toBe(1);
});
