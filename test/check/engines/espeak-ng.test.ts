import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { inspectEngine } from '../../../src/engines/inspect-engine.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import type { WordMark } from '../../../src/service/engine/speech-engine.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { LISTENER, slotSentence, slotWords, spokenWords } from '../../harness/spoken-words.ts';
import { speak, wholeSpeech } from '../../service/engine/process/engine-under-test.ts';
import { medianPitch } from '../../harness/median-pitch.ts';
import { ADAPTERS, COMMAND, espeakEngine, launch } from './espeak-under-test.ts';
import { sentencesIn } from './sentences.ts';

let engine: SpeechEngine;
beforeAll(async () => {
  engine = await espeakEngine();
});
afterAll(() => engine.close());

const LANGUAGES =
  'en-US en-GB de fr es es-419 it pt-BR pt-PT nl sv pl cs uk ru tr ar hi zh ja ko'.split(' ');

/** Speaks what is written, without the service's reading of English. */
const say = (voice: string, text: string, controls: { speed?: number; pitch?: number } = {}) =>
  wholeSpeech(engine, { voice, text, textNormalization: false, ...controls });

async function secondsOf(voice: string, text: string, speed = 1): Promise<number> {
  const { samples, sampleRate } = await say(voice, text, { speed });
  return samples.length / sampleRate;
}

describe('the voices of espeak-ng', () => {
  it('are a man and a woman, at least, in each of the languages', () => {
    for (const language of LANGUAGES) {
      const voices = engine.voices.filter((voice) => voice.language === language);
      const timbres = voices.map(({ id }) => id.split('-').at(-1));
      expect(timbres, language).toEqual(expect.arrayContaining(['man', 'woman']));
    }
    expect(new Set(engine.voices.map(({ language }) => language))).toEqual(new Set(LANGUAGES));
    expect(engine.voices.every(({ pitch, words }) => pitch && words)).toBe(true);
  });

  it.each(LANGUAGES)('say %s, at the common level, and when each word of it', async (language) => {
    const text = sentencesIn(language);
    for (const { id } of engine.voices.filter((voice) => voice.language === language)) {
      const { samples, sampleRate, words } = await say(id, text);

      const seconds = samples.length / sampleRate;
      expect(seconds, id).toBeGreaterThan(10);
      expect(seconds, id).toBeLessThan(20);
      expect(level(samples), id).toBeGreaterThan(-21);
      expect(level(samples), id).toBeLessThan(-19);
      expect(peakOf(samples), id).toBeLessThan(0.99);
      expect(texts(text, words), id).toEqual(wordsOf(text, language));
      expectForwards(words, seconds * 1000);
    }
  });

  it('are understood by a listener who knows nothing of them', async () => {
    requireTool(LISTENER);
    for (const { id } of engine.voices.filter(({ language }) => language === 'en-US')) {
      let right = 0;
      for (const choices of SOME_SENTENCES) {
        const heard = await spokenWords(await say(id, slotSentence(choices), { speed: 0.9 }));
        const wanted = slotWords(choices);
        right += wanted.filter((word, slot) => heard.words?.[slot] === word).length;
      }
      expect(right / (8 * SOME_SENTENCES.length), id).toBeGreaterThan(0.85);
    }
  });
});

const SOME_SENTENCES = [
  [0, 1, 2, 3, 0, 1, 2, 3],
  [3, 2, 1, 0, 3, 2, 1, 0],
  [1, 3, 0, 2, 2, 0, 3, 1],
];

describe('the words of espeak-ng', () => {
  it.each([
    ['one sound for two words', 'of the in the of the to the and in the.'],
    ['many sounds for one word', 'Dr. Smith paid $1,234.56 on 3/4/2024 (see http://a.b/c?d=e).'],
    ['signs and pictures', '“Café” — 🎉 U.S.A. & 50 % … end!'],
  ])('are all reported: %s', async (_, text) => {
    const { samples, sampleRate, words } = await say('en-us-man', text);
    expect(texts(text, words)).toEqual(wordsOf(text, 'en'));
    expectForwards(words, (samples.length / sampleRate) * 1000);
  });

  it('are where the sound is, and the pauses are between them', async () => {
    const { samples, sampleRate, words } = await say('de-man', 'Eins, zwei, drei, vier, fünf.');
    const between = (startMs: number, endMs: number) =>
      level(samples.subarray((startMs * sampleRate) / 1000, (endMs * sampleRate) / 1000));
    expect(words).toHaveLength(5);
    words.forEach((word, index) => {
      expect(between(word.startMs, word.endMs)).toBeGreaterThan(-25);
      const next = words[index + 1];
      if (next === undefined) return;
      expect(next.startMs - word.endMs).toBeGreaterThan(60);
      expect(between(word.endMs + 20, next.startMs - 10)).toBeLessThan(-40);
    });
  });

  it('keep their rhythm over a long text, wherever it is cut to be spoken', async () => {
    const sentence = 'The old bridge over the river is open again, and nobody knows why. ';
    const { words } = await say('en-us-man', sentence.repeat(40));
    const starts = words.filter((_, index) => index % 13 === 0).map(({ startMs }) => startMs);
    expect(starts).toHaveLength(40);
    const periods = starts.slice(1).map((startMs, index) => startMs - (starts[index] ?? 0));
    for (const period of periods) expect(Math.abs(period - (periods[0] ?? 0))).toBeLessThan(60);
  });
});

const GERMAN = sentencesIn('de');

describe('the controls of espeak-ng', () => {
  it('speak faster and slower, and no further than it can', async () => {
    const normal = await secondsOf('de-woman', GERMAN);
    expect(normal / (await secondsOf('de-woman', GERMAN, 2))).toBeCloseTo(2, 0);
    expect(normal / (await secondsOf('de-woman', GERMAN, 0.5))).toBeCloseTo(0.5, 1);
    expect(await secondsOf('de-woman', GERMAN, 5)).toBe(await secondsOf('de-woman', GERMAN, 2.6));
  });

  it.each(['en-us-man', 'en-us-alto', 'fr-woman', 'ko-man'])(
    'shift the pitch of %s',
    async (voice) => {
      const text = sentencesIn(engine.voices.find(({ id }) => id === voice)?.language ?? '');
      const pitchAt = async (pitch: number) => {
        const { samples, sampleRate } = await say(voice, text, { pitch });
        return medianPitch({ samples: samples.subarray(0, 3 * sampleRate), sampleRate });
      };
      const own = await pitchAt(0);
      for (const semitones of [-6, 6]) {
        const shift = 12 * Math.log2((await pitchAt(semitones)) / own);
        expect(Math.abs(shift - semitones)).toBeLessThan(0.8);
      }
    },
  );

  it('keep the level when the pitch is shifted', async () => {
    for (const pitch of [-12, 12]) {
      const { samples } = await say('it-woman', sentencesIn('it'), { pitch });
      expect(Math.abs(level(samples) + 20)).toBeLessThan(1.5);
      expect(peakOf(samples)).toBeLessThan(0.99);
    }
  });
});

describe('espeak-ng', () => {
  it('says the same the same way, whatever it said before and in whatever process', async () => {
    const text = 'Guten Tag. Wie geht es dir?';
    const first = await say('de-woman', text);
    await say('cmn-man', sentencesIn('zh'), { speed: 1.3 });
    expect((await say('de-woman', text)).samples).toEqual(first.samples);
    const other = await espeakEngine();
    onTestFinished(() => other.close());
    expect((await wholeSpeech(other, { voice: 'de-woman', text })).samples).toEqual(first.samples);
  });

  it('obeys nothing in a text', async () => {
    expect(await secondsOf('en-us-man', 'Wait <break time="100000s"/> here.')).toBeLessThan(10);
    expect(await secondsOf('en-us-man', '</speak> & <voice name="whisper">')).toBeGreaterThan(1);
    expect(await secondsOf('en-us-man', '[[h@loU]]')).toBeGreaterThan(0.9);
    expect(await secondsOf('en-us-man', 'before\0after')).toBeGreaterThan(
      (await secondsOf('en-us-man', 'before')) + 0.2,
    );
    expect(await secondsOf('en-us-man', 'one \u{1}450S two three four five')).toBeGreaterThan(
      await secondsOf('en-us-man', 'one two three four five'),
    );
  });

  it.each([
    ['en-us-man', '…', 'has no word that the voice en-us-man can speak'],
    ['en-us-man', '\0 —', 'has no word'],
    ['en-us-man', '你好', 'has no word'],
    ['en-us-man', '\u{482}', 'cannot speak this text'],
    ['ja-man', '今日は', 'cannot speak kanji'],
  ])('%s says that %j cannot be spoken', async (voice, text, why) => {
    const failure = say(voice, text);
    await expect(failure).rejects.toMatchObject({ reason: 'unspeakable' });
    await expect(failure).rejects.toThrow(why);
  });

  it.each([
    ['a word without end', 'a'.repeat(5_000)],
    ['a letter after nothing but brackets', `${'[['.repeat(2_000)} a`],
    ['a letter after a book of dots', `${'.'.repeat(20_000)} b`],
    ['lines without text', `${'\n'.repeat(5_000)}c`],
    ['halves of characters', '\ud800 a \udc00'],
    ['pictures only', '🎉'.repeat(300)],
  ])('survives %s', async (_, text) => {
    const { samples } = await say('en-us-man', text);
    expect(peakOf(samples)).toBeGreaterThan(0.05);
  });

  it('sends speech in tenths of a second, and stops when the listener disconnects', async () => {
    const listener = new AbortController();
    const text = sentencesIn('en').repeat(300);
    const speech = speak(engine, { voice: 'en-us-woman', text }, listener.signal);
    expect((await speech.next()).value?.samples).toHaveLength(2_205);

    listener.abort(new Error('gone'));

    await expect(speech.next()).rejects.toThrow('gone');
    expect((await say('en-us-woman', 'Next.')).samples).not.toHaveLength(0);
  });

  it('says what to do when it is not installed', async () => {
    const cwd = await mkdtemp(path.join(tmpdir(), 'foley-espeak-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    for (const folder of ['espeak-ng', 'parts']) {
      await mkdir(path.join(cwd, folder));
      const names = await readdir(path.join(ADAPTERS, folder));
      for (const name of names.filter((one) => one.endsWith('.mjs'))) {
        await copyFile(path.join(ADAPTERS, folder, name), path.join(cwd, folder, name));
      }
    }
    await expect(inspectEngine({ ...COMMAND, cwd }, { launch })).rejects.toThrow(
      'The engine espeak-ng says: espeak-ng is not installed',
    );
  });
});

/** What a reader would call the words of a text. */
function wordsOf(text: string, language: string): string[] {
  if (/^(?:zh|ja)/.test(language)) {
    const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(text);
    return [...segments].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
  }
  return text
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[“(¿—…]+|[”),.;:!?؟।—…]+$/gu, ''))
    .filter((word) => word !== '');
}

function texts(text: string, words: readonly WordMark[]): string[] {
  const characters = Array.from(text);
  return words.map(({ start, end }) => characters.slice(start, end).join(''));
}

function expectForwards(words: readonly WordMark[], endMs: number): void {
  words.forEach((word, index) => {
    expect(word.endMs).toBeGreaterThan(word.startMs);
    expect(word.startMs).toBeGreaterThanOrEqual(words[index - 1]?.endMs ?? 0);
    expect(word.endMs).toBeLessThanOrEqual(Math.ceil(endMs));
  });
}

/** Average level in decibels of full scale; -Infinity for silence. */
function level(samples: Float32Array): number {
  return 10 * Math.log10(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
}

/** The largest sample, from 0 up. */
function peakOf(samples: Float32Array): number {
  return samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
}
