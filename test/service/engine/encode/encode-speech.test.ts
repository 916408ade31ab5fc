import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type EncodeSpeechOptions,
  encodeSpeech,
} from '../../../../src/service/engine/encode/encode-speech.ts';
import { MAX_TRUE_PEAK_DB } from '../../../../src/audio/encode/peak-limiter.ts';
import { wavHeader } from '../../../../src/audio/encode/pcm.ts';
import { EngineError, type SpeechChunk } from '../../../../src/service/engine/speech-engine.ts';
import { type DecodedAudio, decodeAudio, loudness } from '../../../harness/decode-audio.ts';
import { independentMeter } from '../../../harness/independent-meter.ts';
import { requireTool } from '../../../harness/require-tool.ts';
import { checkWithMpg123, probeWithFfprobe } from '../../../harness/second-opinion.ts';
import { LISTENER, slotSentence, slotWords, spokenWords } from '../../../harness/spoken-words.ts';
import { speak } from '../../../harness/flite.ts';

const SAMPLE_RATE = 16_000;
const FORMATS = ['mp3', 'wav', 'ogg'] as const;
const CODECS = { wav: 'pcm_s16le', ogg: 'vorbis' };
const CHOICES = [3, 1, 2, 0, 1, 3, 0, 2];

const speech = speak(slotSentence(CHOICES));
const short = speak('Short speech.', { voice: 'kal16' });
const durationMs = (speech.length / SAMPLE_RATE) * 1000;

async function* chunksOf(...parts: readonly Float32Array[]): AsyncGenerator<SpeechChunk> {
  for (const samples of parts) yield { samples, sampleRate: SAMPLE_RATE };
}

async function* twoRates(): AsyncGenerator<SpeechChunk> {
  yield { samples: short, sampleRate: SAMPLE_RATE };
  yield { samples: short, sampleRate: 22_050 };
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** As a file: a WAV has its true lengths. */
async function fileOf(
  format: (typeof FORMATS)[number],
  samples: Float32Array,
  options: EncodeSpeechOptions = {},
): Promise<Buffer> {
  const bytes = await bytesOf(encodeSpeech(format, chunksOf(samples), options));
  if (format === 'wav') bytes.set(wavHeader(SAMPLE_RATE, samples.length));
  return bytes;
}

async function encoded(
  format: (typeof FORMATS)[number],
  samples: Float32Array = speech,
  options: EncodeSpeechOptions = {},
): Promise<DecodedAudio> {
  return decodeAudio(await fileOf(format, samples, options));
}

async function lufsOf({ channels: [samples = new Float32Array(0)], sampleRate }: DecodedAudio) {
  return (await independentMeter()).mono(sampleRate, samples);
}

async function truePeakDbOf({
  channels: [samples = new Float32Array(0)],
  sampleRate,
}: DecodedAudio) {
  return (await independentMeter()).truePeakDb(sampleRate, samples);
}

const mono = ({ channels, sampleRate }: DecodedAudio) => ({
  samples: channels[0] ?? new Float32Array(0),
  sampleRate,
});

describe.each(FORMATS)('%s', (format) => {
  test('decodes to the speech, as long and as loud as it was', async () => {
    const audio = await encoded(format);
    expect(audio.format).toBe(format);
    expect(audio.sampleRate).toBe({ wav: SAMPLE_RATE, mp3: 24_000, ogg: 44_100 }[format]);
    const longer = audio.durationMs - durationMs;
    expect(Math.abs(longer)).toBeLessThan(format === 'mp3' ? 60 : 0.1);
    // A single sentence may be further from the loudness of a voice than a passage (test/check/engine-level).
    expect(Math.abs((await lufsOf(audio)) + 20)).toBeLessThan(2);
  });

  test('has the words of the speech', async () => {
    requireTool(LISTENER);
    expect(await spokenWords(mono(await encoded(format)))).toEqual({ words: slotWords(CHOICES) });
  });

  test('is the same however the speech is cut, and each time', async () => {
    const whole = await bytesOf(encodeSpeech(format, chunksOf(short)));
    const half = Math.floor(short.length / 8_000) * 4_000;
    const parts = [short.subarray(0, half), new Float32Array(0), short.subarray(half)];
    expect(await bytesOf(encodeSpeech(format, chunksOf(...parts)))).toEqual(whole);
  });

  test('is louder or quieter as asked, and never clipped', async () => {
    const own = await encoded(format);
    const louder = await encoded(format, speech, { gainDb: 6 });
    const quieter = await encoded(format, speech, { gainDb: -12 });
    const loudest = await encoded(format, speech, { gainDb: 20 });
    expect(Math.abs(loudness(louder) - loudness(own) - 6)).toBeLessThan(0.5);
    expect(Math.abs(loudness(quieter) - loudness(own) + 12)).toBeLessThan(0.1);
    expect(loudness(loudest) - loudness(own)).toBeGreaterThan(8);
    for (const one of [own, louder, loudest]) {
      expect(await truePeakDbOf(one)).toBeLessThan(MAX_TRUE_PEAK_DB);
    }
  });

  test('leaves before the second chunk is there', async () => {
    const asked: number[] = [];
    async function* counting(): AsyncGenerator<SpeechChunk> {
      for (const number of [1, 2]) {
        asked.push(number);
        yield { samples: short, sampleRate: SAMPLE_RATE };
      }
    }
    const stream = encodeSpeech(format, counting());
    const first = await stream.next();
    expect(first.value?.length).toBeGreaterThan(0);
    expect(asked).toEqual([1]);
    await bytesOf(stream);
    expect(asked).toEqual([1, 2]);
  });

  test('lets other work go on', async () => {
    const others = { turns: 0, areWanted: true };
    const work = (async () => {
      while (others.areWanted) {
        await nextTurn();
        others.turns += 1;
      }
    })();
    await bytesOf(encodeSpeech(format, chunksOf(short)));
    others.areWanted = false;
    await work;
    expect(others.turns).toBeGreaterThanOrEqual(Math.floor(short.length / 4_000));
  });

  test('of nothing is refused', async () => {
    for (const chunks of [chunksOf(), chunksOf(new Float32Array(0))]) {
      await expect(bytesOf(encodeSpeech(format, chunks))).rejects.toBeInstanceOf(EngineError);
    }
  });

  test('of one sample is a file', async () => {
    const audio = await encoded(format, Float32Array.of(0.5));
    expect(audio.durationMs).toBeLessThan(120);
  });

  test('fails as the speech fails', async () => {
    const failure = new EngineError('failed', 'broken');
    async function* breaking(): AsyncGenerator<SpeechChunk> {
      yield { samples: short, sampleRate: SAMPLE_RATE };
      throw failure;
    }
    await expect(bytesOf(encodeSpeech(format, breaking()))).rejects.toBe(failure);
  });

  test('that is not read to the end stops the speech', async () => {
    let isClosed = false;
    async function* endless(): AsyncGenerator<SpeechChunk> {
      try {
        for (;;) yield { samples: short, sampleRate: SAMPLE_RATE };
      } finally {
        isClosed = true;
      }
    }
    const stream = encodeSpeech(format, endless());
    await stream.next();
    await stream.return(undefined);
    expect(isClosed).toBe(true);
  });

  test('refuses speech that changes its rate', async () => {
    await expect(bytesOf(encodeSpeech(format, twoRates()))).rejects.toThrow('sample rate');
  });

  test('streams side by side do not mix', async () => {
    const other = speak('Something else.', { voice: 'awb' });
    const alone = await bytesOf(encodeSpeech(format, chunksOf(short)));
    const [one] = await Promise.all([
      bytesOf(encodeSpeech(format, chunksOf(short))),
      bytesOf(encodeSpeech(format, chunksOf(other))),
    ]);
    expect(one).toEqual(alone);
  });

  test('satisfies other programs', async () => {
    requireTool(format === 'mp3' ? 'mpg123' : 'ffprobe');
    const folder = await mkdtemp(path.join(tmpdir(), 'foley-encode-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, `speech.${format}`);
    await writeFile(file, await fileOf(format, short));
    // ffprobe has to estimate the duration of any mp3 that was streamed, and warns of that.
    if (format === 'mp3') await checkWithMpg123(file);
    else expect((await probeWithFfprobe(file)).codec).toBe(CODECS[format]);
  });
});

test('mp3 is one channel at 128 kbit/s', async () => {
  const bytes = await bytesOf(encodeSpeech('mp3', chunksOf(short)));
  const header = bytes.readUInt32BE(0);
  expect(header.toString(2).slice(0, 11)).toBe('1'.repeat(11));
  expect({ bitRateIndex: (header >>> 12) & 15, mode: (header >>> 6) & 3 }).toEqual({
    // 128 kbit/s in MPEG 2.
    bitRateIndex: 12,
    mode: 3,
  });
});

describe('the length in a WAV header', () => {
  test('says that it is unknown until it is known', async () => {
    const bytes = await bytesOf(encodeSpeech('wav', chunksOf(speech)));
    expect([4, 40].map((at) => bytes.readUInt32LE(at))).toEqual([0xffff_ffff, 0xffff_ffff]);
    const mended = Buffer.from(bytes);
    mended.set(wavHeader(SAMPLE_RATE, speech.length));
    expect((await decodeAudio(mended)).durationMs).toBe(durationMs);
  });

  test('has its limit', () => {
    expect(() => wavHeader(SAMPLE_RATE, 2 ** 31)).toThrow(RangeError);
  });
});

async function* failing(): AsyncGenerator<SpeechChunk> {
  await nextTurn();
  yield* [];
  throw new EngineError('failed', 'broken');
}

test('speech that fails before its first samples gives back its encoder', async () => {
  for (let count = 0; count < 20; count += 1) {
    await expect(bytesOf(encodeSpeech('opus', failing()))).rejects.toThrow('broken');
  }
  expect((await bytesOf(encodeSpeech('opus', chunksOf(short)))).length).toBeGreaterThan(0);
});
