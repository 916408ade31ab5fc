import { afterAll, expect, test } from 'vitest';
import { concatSamples } from '../../src/audio/resample.ts';
import type { PlacedWords } from '../../src/alignment/align-words.ts';
import type { SpeechEngine, WordMark } from '../../src/service/engine/speech-engine.ts';
import {
  alignTo,
  countPlaced,
  meanError,
  OTHER_TEXT,
  speakWords,
  TEXT,
} from '../alignment/spoken.ts';
import { espeakEngine } from './engines/espeak-under-test.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';

/** The largest mean difference between a word start and the true one. */
const MOST_MS = { flite: 40, espeak: 60 } as const;

let espeak: SpeechEngine | undefined;
afterAll(() => espeak?.close());

async function espeakWords(text: string, voice: string, speed = 1) {
  espeak ??= await espeakEngine();
  const parts: Float32Array[] = [];
  const words: WordMark[] = [];
  let sampleRate = 0;
  const request = { text, voice, speed, pitch: 0, isTimed: true };
  for await (const chunk of espeak.synthesize(request, new AbortController().signal)) {
    ({ sampleRate } = chunk);
    parts.push(chunk.samples);
    words.push(...(chunk.words ?? []));
  }
  return { samples: concatSamples(parts), sampleRate, words };
}

/** Compares words by their place in the text, because the engines may divide it differently. */
function errorOf(text: string, placed: PlacedWords, said: readonly WordMark[]): number {
  const reference = speakWords(text).words;
  const truth = reference.map(({ start }) => {
    const startMs = said.find((word) => word.start === start)?.startMs;
    return { startMs: startMs ?? Number.NaN };
  });
  const known = placed.map((place, index) =>
    Number.isNaN(truth[index]?.startMs) ? undefined : place,
  );
  return meanError(known, truth);
}

const TEXTS = [TEXT, OTHER_TEXT];

test.each(['en-us-man', 'en-us-woman', 'en-gb-x-rp-man'])(
  'words of espeak-ng start where %s says them',
  async (voice) => {
    for (const text of TEXTS) {
      for (const speed of IS_FULL ? [0.7, 1, 1.5] : [1]) {
        const recording = await espeakWords(text, voice, speed);
        const placed = await alignTo(text, recording);
        expect(countPlaced(placed)).toBeGreaterThan(0.9 * placed.length);
        expect(errorOf(text, placed, recording.words)).toBeLessThan(MOST_MS.espeak);
      }
    }
  },
);

test('words of all built-in voices start where the voices say them in a long text', async () => {
  const text = Array.from({ length: IS_FULL ? 10 : 3 }, () => TEXTS.join(' ')).join(' ');
  for (const voice of ['slt', 'rms', 'awb']) {
    const recording = speakWords(text, voice);
    const placed = await alignTo(text, recording);
    expect(countPlaced(placed)).toBeGreaterThan(0.95 * placed.length);
    expect(meanError(placed, recording.words)).toBeLessThan(MOST_MS.flite);
  }
});

test('espeak-ng that says another text is recognised', async () => {
  const recording = await espeakWords(OTHER_TEXT, 'en-us-woman');
  const placed = await alignTo(TEXT, recording);
  expect(countPlaced(placed)).toBeLessThan(0.3 * placed.length);
});
