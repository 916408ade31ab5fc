import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CueShape } from '../../src/captions/cue-shape.ts';
import { lineText } from '../../src/captions/cue-shape.ts';
import { shapeCues } from '../../src/captions/shape-cues.ts';
import type { SubtitleFormat } from '../../src/captions/cue-shape.ts';
import { subtitlesOf } from '../../src/captions/subtitles.ts';
import type { Timings } from '../../src/captions/timings.ts';
import { timingsOf } from '../../src/captions/timings.ts';
import type { StoredName } from './stored-timings.ts';
import { DEFAULT_SHAPE, FOLDER, STORED, storedTimings } from './stored-timings.ts';

/** A person reviewed each file: review every change too. */
describe('reviewed subtitles', () => {
  test.each<readonly [StoredName, string, SubtitleFormat, Partial<CueShape>]>([
    ['flite', 'flite.srt', 'srt', {}],
    ['en', 'en.srt', 'srt', {}],
    ['en', 'en.sentences.srt', 'srt', { by: 'sentence' }],
    ['en', 'en.one-line.vtt', 'vtt', { maxLines: 1 }],
    ['en', 'en.words.srt', 'srt', { by: 'word' }],
    ['en', 'en.words.vtt', 'vtt', { by: 'word' }],
    ['de', 'de.srt', 'srt', {}],
    ['zh', 'zh.srt', 'srt', {}],
    ['zh', 'zh.32.vtt', 'vtt', { maxChars: 32 }],
    ['ja', 'ja.srt', 'srt', {}],
    ['ja', 'ja.26.vtt', 'vtt', { maxChars: 26 }],
  ])('%s: %s', async (name, file, format, shape) => {
    const { content } = subtitlesOf(storedTimings(name), { ...DEFAULT_SHAPE, ...shape }, format);
    await expect(content).toMatchFileSnapshot(fileURLToPath(new URL(file, FOLDER)));
  });
});

describe('small timing noise', () => {
  test.each(STORED)('%s has the same cuts', (name) => {
    const timings = storedTimings(name);
    const lines = linesOf(timings);
    const noise = fc.array(fc.integer({ min: -10, max: 10 }), { minLength: 7, maxLength: 50 });
    fc.assert(
      fc.property(noise, (shifts) => {
        expect(linesOf(shaken(timings, shifts))).toStrictEqual(lines);
      }),
      { numRuns: 25 },
    );
  });
});

function linesOf(timings: Timings): string[][] {
  return shapeCues(timings, DEFAULT_SHAPE).map(({ lines }) => lines.map((line) => lineText(line)));
}

function shaken({ words, ...rest }: Timings, shifts: readonly number[]): Timings {
  const shift = (index: number): number => shifts[index % shifts.length] ?? 0;
  return timingsOf({
    ...rest,
    words: words.map(({ text, startMs, endMs }, index) => ({
      text,
      startMs: startMs + shift(2 * index),
      endMs: endMs + shift(2 * index + 1),
    })),
  });
}
