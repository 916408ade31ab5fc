import { describe, expect, test } from 'vitest';
import { concatSamples } from '../../src/audio/resample.ts';
import {
  alignTo,
  countPlaced,
  meanError,
  noise,
  OTHER_TEXT,
  speakWords,
  TEXT,
} from '../alignment/spoken.ts';

const RATE = 16_000;
const SECONDS = 40;
/** The largest mean difference between a word start and the true one. */
const MOST_MS = 40;

const NOISES = [
  ['quiet hiss', noise(SECONDS, 0.01)],
  ['hiss', noise(SECONDS, 0.05)],
  ['loud hiss', noise(SECONDS, 0.2)],
  ['hum', hum(SECONDS, 0.1)],
  ['quiet applause', applause(SECONDS, 400, 0.05)],
  ['loud applause', applause(SECONDS, 400, 0.2)],
  ['sparse applause', applause(SECONDS, 150, 0.1)],
] as const;
const SILENCE = new Float32Array(0);
const FIRST = speakWords(TEXT.slice(0, 140).trim(), 'awb');
const SECOND = speakWords(TEXT.slice(140).trim(), 'awb');

describe.each(NOISES)('with 40 s of %s, all words are found', (_, sound) => {
  test.each([
    ['after it', [sound, SILENCE, SILENCE]],
    ['before it', [SILENCE, SILENCE, sound]],
    ['on both sides of it', [SILENCE, sound, SILENCE]],
    ['with it before, between and after them', [sound, sound, sound]],
  ] as const)('%s', async (_place, [before, between, after]) => {
    const samples = concatSamples([before, FIRST.samples, between, SECOND.samples, after]);
    const placed = await alignTo(TEXT, { samples, sampleRate: RATE });
    const firstMs = (before.length * 1000) / RATE;
    const secondMs = firstMs + ((FIRST.samples.length + between.length) * 1000) / RATE;
    const words = [
      ...FIRST.words.map(({ startMs }) => ({ startMs: startMs + firstMs })),
      ...SECOND.words.map(({ startMs }) => ({ startMs: startMs + secondMs })),
    ];
    expect(countPlaced(placed)).toBe(words.length);
    expect(meanError(placed, words)).toBeLessThan(MOST_MS);
  });
});

test.each([0.015, 0.03])(
  'words are found in hiss with peaks of %d and pauses of 5 s',
  async (level) => {
    const { samples, words } = speakWords(TEXT, 'awb');
    const pause = new Float32Array(5 * RATE);
    const hiss = noise(SECONDS, level);
    const noisy = concatSamples([pause, samples, pause]).map(
      (sample, at) => sample + (hiss[at] ?? 0),
    );
    const placed = await alignTo(TEXT, { samples: noisy, sampleRate: RATE });
    expect(countPlaced(placed)).toBeGreaterThan(0.95 * placed.length);
    expect(meanError(placed, words, 5_000)).toBeLessThan(MOST_MS);
  },
);

describe('words that are not said', () => {
  test.each(NOISES)('are not found in %s', async (_, sound) => {
    const placed = await alignTo(TEXT, { samples: sound, sampleRate: RATE });
    expect(countPlaced(placed)).toBeLessThan(0.1 * placed.length);
  });

  test.each(NOISES)('are not found in other speech with %s', async (_, sound) => {
    const other = speakWords(OTHER_TEXT, 'rms').samples;
    const placed = await alignTo(TEXT, {
      samples: concatSamples([sound, other, sound]),
      sampleRate: RATE,
    });
    expect(countPlaced(placed)).toBeLessThan(0.25 * placed.length);
  });
});

/** Plays the hum of an electric device, with its overtones and hiss. */
function hum(seconds: number, level: number): Float32Array {
  return noise(seconds, level / 30).map((hiss, at) => {
    const angle = (2 * Math.PI * 50 * at) / RATE;
    const tones = 0.6 * Math.sin(angle) + 0.2 * Math.sin(3 * angle) + 0.1 * Math.sin(5 * angle);
    return hiss + level * tones;
  });
}

/** Plays applause with peaks near `level`. Each clap is a burst of noise. */
function applause(seconds: number, clapsPerSecond: number, level: number): Float32Array {
  const samples = new Float32Array(seconds * RATE);
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let clap = 0; clap < clapsPerSecond * seconds; clap += 1) {
    const loudness = (random() * level) / 3;
    const start = Math.floor(random() * samples.length);
    for (let at = start; at < Math.min(samples.length, start + 800); at += 1) {
      const decay = Math.exp((start - at) / 160);
      samples[at] = (samples[at] ?? 0) + loudness * decay * (2 * random() - 1);
    }
  }
  return samples;
}
