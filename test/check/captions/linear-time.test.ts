import { describe, expect, test, vi } from 'vitest';
import { CUE_PRESETS } from '../../../src/captions/cue-shape.ts';
import { readSubtitles } from '../../../src/captions/read-subtitles.ts';
import { subtitlesOf } from '../../../src/captions/subtitles.ts';
import { timingsOf } from '../../../src/captions/timings.ts';
import { readSubtitles as readSpoken } from '../../../src/text/formats/subtitles.ts';

vi.setConfig({ testTimeout: 300_000 });

const PAIRS = 7;
const MOST_RATIO = 2.3;
/** Shorter times are lost in the noise. */
const ENOUGH_MS = 30;

const TIMES = '00:00:01,000 --> 00:00:02,000';

/** Pieces whose repetition a reader could look at again and again. */
const PIECES: readonly string[] = [
  '<',
  '<a',
  '<v A>b',
  '<ruby>a<rt>b',
  '&amp',
  '{\\',
  '\n',
  ' ',
  '- \n',
  ' -->',
  '0:0',
  '\n0\n',
  'NOTE\n\n',
  `a\nb\n\n${TIMES}\nb\nc\n\n${TIMES}\n`,
  `a\n\n${TIMES}\na b\n\n${TIMES}\na b\nc\n\n${TIMES}\nc\n\n${TIMES}\nc d\n\n${TIMES}\n`,
];

describe('twice as much of a subtitle file takes twice the time to speak and to check', () => {
  test.each(PIECES)('%j', (piece) => {
    for (const head of [`1\n${TIMES}\n`, `WEBVTT\n\n${TIMES}\n`]) {
      expectLinear((units) => {
        const text = head + piece.repeat(units / piece.length);
        return () => {
          attempt(() => readSpoken(text));
          attempt(() => readSubtitles(text, 'a.srt'));
        };
      }, 120_000);
    }
  });
});

describe('twice as much text takes twice the time to caption', () => {
  test.each([
    'a ',
    'a. ',
    '*\n\n',
    '"a ',
    '看守人又爬上楼梯因为灯亮了而且没有人知道为什么',
    'สวัสดีครับผมชื่อสมชาย',
  ])('%j', (piece) => {
    expectLinear((units) => {
      const text = piece.repeat(units / piece.length);
      const words = [...text.matchAll(/[^\s]{1,9}/gu)].map(([word], index) => {
        return { text: word, startMs: index * 300, endMs: index * 300 + 250 };
      });
      const durationMs = words.length * 300;
      const timings = timingsOf({ text, durationMs, complete: true, words });
      return () => subtitlesOf(timings, { ...CUE_PRESETS.netflix, by: 'phrase' }, 'vtt');
    }, 12_000);
  });
});

/** A refusal takes time too. */
function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    return;
  }
}

/**
 * Expects that work of twice the size takes at most {@link MOST_RATIO} times as long. Measures pairs, one right after
 * the other, because the speed of the machine changes. Processor time does not include the work of other processes, but
 * still varies: the lower of two estimates counts, and both are near 4 if the time grows with the square of the size.
 */
function expectLinear(prepare: (units: number) => () => unknown, units: number): void {
  const [once, twice] = [prepare(units), prepare(units * 2)];
  // The first calls are not compiled yet.
  const slowest = Math.max(timeOf(twice), timeOf(twice));
  if (slowest < ENOUGH_MS) return;
  const pairs = Array.from({ length: PAIRS }, () => [timeOf(once), timeOf(twice)] as const);
  const ratios = pairs.map(([short, long]) => long / short).toSorted((a, b) => a - b);
  const fastest = [0, 1].map((at) => Math.min(...pairs.map((pair) => pair[at] ?? 0)));
  const estimates = [ratios[PAIRS >> 1] ?? 0, (fastest[1] ?? 0) / (fastest[0] ?? 0)];
  expect(Math.min(...estimates), JSON.stringify(pairs)).toBeLessThan(MOST_RATIO);
}

function timeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1_000;
}
