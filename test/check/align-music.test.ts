import { describe, expect, test } from 'vitest';
import { concatSamples } from '../../src/audio/resample.ts';
import { MUSIC, music } from '../alignment/music.ts';
import {
  alignTo,
  countPlaced,
  meanError,
  OTHER_TEXT,
  speakWords,
  TEXT,
} from '../alignment/spoken.ts';

/** The largest mean difference between a word start and the true one. */
const MOST_MS = 40;

describe('the words of speech', () => {
  test.each([
    ['awb', 14, 0],
    ['rms', 0, 14],
    ['awb', 14, 14],
    ['rms', 60, 60],
  ])('of %s are found with %d s of music before and %d s after', async (voice, before, after) => {
    const { samples, sampleRate, words } = speakWords(TEXT, voice);
    for (const kind of MUSIC) {
      for (const level of before + after < 60 ? [0.1, 0.8] : [0.3]) {
        const recording = concatSamples([
          music(before, kind, level),
          samples,
          music(after, kind, level),
        ]);
        const placed = await alignTo(TEXT, { samples: recording, sampleRate });
        expect([kind, level, countPlaced(placed)]).toEqual([kind, level, placed.length]);
        expect(meanError(placed, words, before * 1_000)).toBeLessThan(MOST_MS);
      }
    }
  });

  test.each([14, 60])('are found on both sides of %d s of music', async (seconds) => {
    const [first, second] = [TEXT.slice(0, 140).trim(), TEXT.slice(140).trim()];
    const [before, after] = [speakWords(first, 'awb'), speakWords(second, 'awb')];
    const { sampleRate } = before;
    for (const kind of MUSIC) {
      const samples = concatSamples([before.samples, music(seconds, kind), after.samples]);
      const placed = await alignTo(TEXT, { samples, sampleRate });
      expect(countPlaced(placed)).toBeGreaterThanOrEqual(placed.length - 1);
      const offsetMs = (before.samples.length * 1_000) / sampleRate + seconds * 1_000;
      const starts = [
        ...before.words.map(({ startMs }) => startMs),
        ...after.words.map(({ startMs }) => startMs + offsetMs),
      ];
      const errors = starts.map((startMs, word) =>
        Math.abs((placed[word]?.startMs ?? 0) - startMs),
      );
      // One word beside the music may be found on the other side of it.
      expect(errors.filter((error) => error > 3 * MOST_MS).length).toBeLessThanOrEqual(1);
    }
  });

  test('are found where quiet music goes on under them', async () => {
    const { samples, sampleRate, words } = speakWords(TEXT, 'awb');
    const under = music(35, 'band', 0.03);
    const whole = concatSamples([music(14), samples]).map(
      (sample, at) => sample + (under[at] ?? 0),
    );
    const placed = await alignTo(TEXT, { samples: whole, sampleRate });
    expect(countPlaced(placed)).toBeGreaterThan(0.8 * placed.length);
    expect(meanError(placed, words, 14_000)).toBeLessThan(2 * MOST_MS);
  });
});

describe('a word that is not said', () => {
  test.each(MUSIC)('is not found in music (%s)', async (kind) => {
    const placed = await alignTo(TEXT, { samples: music(20, kind), sampleRate: 16_000 });
    expect(countPlaced(placed)).toBeLessThan(0.1 * placed.length);
  });

  test.each(MUSIC)('is not found in other speech with music (%s)', async (kind) => {
    const { samples, sampleRate } = speakWords(OTHER_TEXT, 'rms');
    const recording = concatSamples([music(14, kind), samples, music(14, kind)]);
    const placed = await alignTo(TEXT, { samples: recording, sampleRate });
    expect(countPlaced(placed)).toBeLessThan(0.2 * placed.length);
  });
});
