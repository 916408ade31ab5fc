import { describe, expect, test } from 'vitest';
import type { Cue } from '../../src/captions/cue-shape.ts';
import { timestamp } from '../../src/captions/cue-writing.ts';
import { srtFile, vttFile } from '../../src/captions/subtitles.ts';

function cue(startMs: number, endMs: number, ...lines: readonly string[]): Cue {
  return {
    startMs,
    endMs,
    lines: lines.map((line) =>
      line.split(' ').map((text, index) => ({
        text,
        gap: index === 0 ? '' : ' ',
        startMs: startMs + 100 * index,
      })),
    ),
  };
}

describe('times', () => {
  test.each([
    [0, '00:00:00,000'],
    [1, '00:00:00,001'],
    [59_999, '00:00:59,999'],
    [60_000, '00:01:00,000'],
    [3_599_999, '00:59:59,999'],
    [3_600_000, '01:00:00,000'],
    [359_999_999, '99:59:59,999'],
    [360_000_000, '100:00:00,000'],
    [36_000_000_000, '10000:00:00,000'],
  ])('%i ms is %s', (ms, expected) => {
    expect(timestamp(ms, ',')).toBe(expected);
    expect(timestamp(ms, '.')).toBe(expected.replace(',', '.'));
  });
});

describe('SubRip', () => {
  test('numbers cues and ends each with a blank line', () => {
    expect(srtFile([cue(0, 900, 'Hello,', 'you & me'), cue(1_000, 2_000, '<b>Bye.')])).toBe(
      '1\n00:00:00,000 --> 00:00:00,900\nHello,\nyou & me\n\n' +
        '2\n00:00:01,000 --> 00:00:02,000\n<b>Bye.\n\n',
    );
  });

  test('has no arrow in its text', () => {
    expect(srtFile([cue(0, 900, '1', '00:00:01,000 --> 00:00:02,000', 'a--->b')])).toBe(
      '1\n00:00:00,000 --> 00:00:00,900\n1\n00:00:01,000 -- > 00:00:02,000\na--- >b\n\n',
    );
  });

  test('without cues is empty', () => {
    expect(srtFile([])).toBe('');
  });
});

describe('WebVTT', () => {
  test('names the speaker in one line, without control characters', () => {
    const spoken = { ...cue(0, 900, 'Hi'), speaker: 'A\u001B[1m\n\nB & C' };
    expect(vttFile([spoken], { wordTimes: false })).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:00.900\n<v A [1m B &amp; C>Hi\n',
    );
  });

  test('has its header, and escapes markup', () => {
    expect(vttFile([cue(0, 900, 'a --> b', '<c> & &lt;')], { wordTimes: false })).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:00.900\na --&gt; b\n&lt;c&gt; &amp; &amp;lt;\n',
    );
  });

  test('times the words within a cue, in order', () => {
    expect(vttFile([cue(1_000, 1_250, 'one two', 'three four five')], { wordTimes: true })).toBe(
      'WEBVTT\n\n00:00:01.000 --> 00:00:01.250\none <00:00:01.100>two\nthree four <00:00:01.200>five\n',
    );
  });

  test('without cues is its header', () => {
    expect(vttFile([], { wordTimes: false })).toBe('WEBVTT\n');
  });
});
