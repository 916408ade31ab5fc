import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { phrasesIn, READ_LANGUAGES, rewrite } from '../../engines/espeak-ng/reading.ts';
import { wholeSpeech } from '../../service/engine/process/engine-under-test.ts';
import { espeakEngine } from './espeak-under-test.ts';

interface Worker {
  set_voice(name: string): number;
  synthesize_ipa(text: string): { readonly ipa: string };
}

let worker: Worker;
let engine: SpeechEngine;
beforeAll(async () => {
  const file = createRequire(import.meta.url).resolve('@echogarden/espeak-ng-emscripten');
  const { default: load } = await import(pathToFileURL(file).href);
  const { eSpeakNGWorker: Espeak } = await load();
  worker = new Espeak();
  engine = await espeakEngine();
});
afterAll(() => engine.close());

/** Differences between a number in digits and in words that are no mistakes: vowels and linking. */
const SAME_SOUND: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  de: [
    [/ɪ/g, 'i'],
    [/ʊ/g, 'u'],
    [/d(?=\s)/g, 't'],
  ],
  fr: [
    [/(?<=\S)[zt](?=-?\s)|(?<=[ɛɑ]\u{303}?)t|ə|-/gu, ''],
    [/(?<=œ\u{303})n/gu, ''],
    [/v(?= œʁ)/g, 'f'],
    [/œ(?!\u{303})/gu, 'ø'],
    [/sɛ\u{303}k/gu, 'sɛ\u{303}'],
    [/ɔ(?!\u{303})/gu, 'o'],
    [/plys/g, 'ply'],
  ],
  es: [
    [/ɛ/g, 'e'],
    [/ɪ/g, 'i'],
    [/β/g, 'b'],
    [/ð/g, 'd'],
    [/ɣ/g, 'ɡ'],
    [/ʎ/g, 'ʝ'],
    [/θi(?=o)/g, 'θj'],
    [/m(?=\s)/g, 'n'],
  ],
};

/** Splits long German number words, which espeak-ng mispronounces. */
function split(text: string): string {
  return text
    .replaceAll(/(?<=\p{L})(?:tausend|hundert)/gu, ' $&')
    .replaceAll(/(?:tausend|hundert)(?=\p{L})/gu, '$& ')
    .replaceAll(
      /(?<=ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und(?=\p{L}{3,}[gß])/gu,
      ' $& ',
    );
}

/** Returns the phonemes of a text, without stress, length and pauses. */
function sound(text: string, language: string): string {
  worker.set_voice(language);
  const { ipa } = worker.synthesize_ipa(text);
  let folded = `${ipa.replaceAll(/[ˈˌ_‿ː]/g, '').trim()} `;
  for (const [one, other] of SAME_SOUND[language] ?? []) folded = folded.replaceAll(one, other);
  return folded.replaceAll(/\s/g, '').replaceAll(/(.)\1+/gu, '$1');
}

describe.each(READ_LANGUAGES)('espeak-ng in %s', (language) => {
  it.each(phrasesIn(language))('reads $kind like its words: $written', ({ written, spoken }) => {
    const words = spoken.map((one) => sound(language === 'de' ? split(one) : one, language));
    expect(words).toContain(sound(rewrite(written, language), language));
  });

  it('times the written words of every class', async () => {
    const classes = new Map(phrasesIn(language).map((phrase) => [phrase.kind, phrase.written]));
    for (const [kind, text] of classes) {
      const { samples, sampleRate, words } = await wholeSpeech(engine, {
        voice: `${language}-man`,
        text,
      });
      const characters = Array.from(text);
      const timed = words.map(({ start, end }) => characters.slice(start, end).join(''));
      expect(timed, kind).toEqual(writtenWords(text));
      words.forEach(({ startMs, endMs }, index) => {
        expect(endMs, `${kind}: ${timed[index]}`).toBeGreaterThan(startMs);
        expect(startMs, kind).toBeGreaterThanOrEqual(words[index - 1]?.endMs ?? 0);
      });
      expect(words.at(-1)?.endMs).toBeLessThanOrEqual((samples.length * 1000) / sampleRate + 1);
    }
  });
});

/** Returns the start of a word in milliseconds. */
async function startOf(text: string, word: string): Promise<number> {
  const { words } = await wholeSpeech(engine, { voice: 'de-man', text });
  return words.find(({ start }) => text.startsWith(word, start))?.startMs ?? Number.NaN;
}

it('times a word after a reading like the same word after the words of the reading', async () => {
  const written = await startOf('Am 15.03.2024 kostete es 3,50 €, immerhin.', 'immerhin');
  const spoken = await startOf(
    'Am fünfzehnten März 2024 kostete es 3 Euro 50, immerhin.',
    'immerhin',
  );
  expect(Math.abs(written - spoken)).toBeLessThan(2);
});

function writtenWords(text: string): string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[-–(]+|[.,:;!?)-]+$/gu, ''))
    .filter((word) => word !== '');
}
