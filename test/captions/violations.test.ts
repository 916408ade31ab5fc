import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CueShape } from '../../src/captions/cue-shape.ts';
import { CUE_PRESETS } from '../../src/captions/cue-shape.ts';
import { readSubtitles } from '../../src/captions/read-subtitles.ts';
import { srtFile, vttFile } from '../../src/captions/subtitles.ts';
import { shapeCues } from '../../src/captions/shape-cues.ts';
import { describeViolation, findViolations, shownCues } from '../../src/captions/violations.ts';
import { cueShape } from '../../commands/shared/flags/captions.ts';
import type { CueFlags } from '../../commands/shared/flags/captions.ts';
import type { SettingValues } from '../../src/config/setting-definitions.ts';
import { Failure } from '../../src/errors/failure.ts';
import { arbitraryTimings } from './arbitrary-timings.ts';
import { countSteps } from '../harness/count-steps.ts';

const NETFLIX: CueShape = { ...CUE_PRESETS.netflix, by: 'phrase' };
const BBC: CueShape = { ...CUE_PRESETS.bbc, by: 'phrase' };

type Times = readonly [startMs: number, endMs: number, ...lines: readonly string[]];

function violations(cues: readonly Times[], shape: CueShape): unknown[] {
  const shown = cues.map(([startMs, endMs, ...lines]) => ({ startMs, endMs, lines }));
  return findViolations(shown, shape).map(({ cue, limit, rule, value }) => [
    cue,
    rule,
    value,
    limit,
  ]);
}

test('a subtitle file is checked in linear time, whatever it holds', () => {
  const times = '00:00:01,000 --> 00:00:02,000';
  const pieces = ['<', '<font ', '{\\an', '&', ' ', '\n', 'a ', '👋', '。', '—', `a\n\n${times}\n`];
  for (const piece of pieces) {
    const steps = (count: number) =>
      countSteps(() => {
        findViolations(readSubtitles(`${times}\n${piece.repeat(count)}`, 'a.srt'), NETFLIX);
      });
    expect(steps(8_000), piece).toBeLessThan(5 * steps(2_000));
  }
});

describe('the violations of cues', () => {
  test.each<readonly [why: string, cues: readonly Times[], shape: CueShape, expected: unknown]>([
    ['none at the limits', [[0, 7_000, 'a'.repeat(42), 'b'.repeat(42)]], NETFLIX, []],
    ['long lines', [[0, 5_000, 'a', 'b'.repeat(43)]], NETFLIX, [[1, 'line-length', 43, 42]]],
    ['full-width lines', [[0, 5_000, '灯'.repeat(22)]], NETFLIX, [[1, 'line-length', 44, 42]]],
    ['many lines', [[0, 5_000, 'a', 'b', 'c']], NETFLIX, [[1, 'lines', 3, 2]]],
    ['long cues', [[0, 7_100, 'a']], NETFLIX, [[1, 'max-duration', 7_100, 7_000]]],
    ['short cues', [[0, 800, 'a']], NETFLIX, [[1, 'min-duration', 800, 833]]],
    ['fast cues', [[0, 1_000, 'a'.repeat(21)]], NETFLIX, [[1, 'reading-speed', 21, 20]]],
    ['fast cues of BBC', [[0, 1_000, 'a'.repeat(18)]], BBC, [[1, 'reading-speed', 18, 17]]],
    [
      'overlaps',
      [
        [0, 1_500, 'a'],
        [1_000, 2_500, 'b'],
      ],
      NETFLIX,
      [[2, 'overlap', 500, 0]],
    ],
    [
      'gaps below two frames, and gaps that flicker',
      [
        [0, 1_000, 'a'],
        [1_040, 2_000, 'b'],
        [2_084, 3_000, 'c'],
        [3_300, 4_200, 'd'],
        [4_700, 6_000, 'e'],
      ],
      NETFLIX,
      [
        [2, 'gap', 40, 84],
        [4, 'gap', 300, 500],
      ],
    ],
    [
      'gaps below a second of BBC',
      [
        [0, 1_000, 'a'],
        [1_000, 2_000, 'b'],
        [2_600, 4_000, 'c'],
        [5_000, 6_000, 'd'],
      ],
      BBC,
      [[3, 'gap', 600, 1_000]],
    ],
    [
      'cues without duration, also of single words',
      [
        [0, 0, 'a'],
        [0, 50, 'b'],
      ],
      { ...NETFLIX, by: 'word' },
      [[1, 'min-duration', 0, 0]],
    ],
  ])('are %s', (_, cues, shape, expected) => {
    expect(violations(cues, shape)).toStrictEqual(expected);
  });

  test('are described with the cue, its time, the value and the limit', () => {
    const cue = { startMs: 65_400, endMs: 65_495, lines: ['now.'], line: 7 };
    expect(findViolations([cue], NETFLIX).map((each) => describeViolation(each))).toStrictEqual([
      'cue 1 at 1:05.400 ("now."): is shown for 0.095 s; the minimum is 0.833 s',
      'cue 1 at 1:05.400 ("now."): has 42.2 columns per second; the maximum is 20',
    ]);
  });
});

describe('subtitle files', () => {
  test('are read without markup, with their line numbers', () => {
    const srt =
      '1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Hello</i>\r\n{\\an8}you\r\n\r\n2\r\n0:00:03,0 --> 00:00:04,000\r\na < b\r\n';
    expect(readSubtitles(srt, 'a.srt')).toStrictEqual([
      { startMs: 1_000, endMs: 2_500, lines: ['Hello', 'you'], line: 2 },
      { startMs: 3_000, endMs: 4_000, lines: ['a < b'], line: 7 },
    ]);
    const vtt =
      'WEBVTT\n\nNOTE 00:01.000 --> 00:02.000\n\nSTYLE\n::cue { }\n\nid\n00:01.000 --> 01:00:02.000 align:start\n<v Ann>a <00:00:01.500>&lt;b&gt;</v>\n';
    expect(readSubtitles(vtt, 'a.vtt')).toStrictEqual([
      { startMs: 1_000, endMs: 3_602_000, lines: ['a <b>'], line: 9 },
    ]);
  });

  test.each([
    ['once upon a time', 'a.srt is not a subtitle or timings file'],
    [
      '1\n00:00:01 --> 00:00:62\nHello',
      'a.srt, line 2: not a time of a subtitle: "00:00:01 --> 00:00:62"',
    ],
  ])('that are invalid are refused: %j', (content, message) => {
    expect(() => readSubtitles(content, 'a.srt')).toThrow(
      expect.objectContaining({ message, exit: 'usage' }),
    );
    expect(() => readSubtitles(content, 'a.srt')).toThrow(Failure);
  });

  test('of foley have the violations that were reported when they were written', () => {
    const shape = fc.constantFrom(NETFLIX, BBC);
    const plain = arbitraryTimings().filter(({ text }) => !/[<>{]|&amp;/.test(text));
    fc.assert(
      fc.property(plain, shape, (timings, limits) => {
        const cues = shapeCues(timings, limits);
        const reported = findViolations(shownCues(cues), limits);
        const vtt = vttFile(cues, { wordTimes: false });
        for (const content of [srtFile(cues), vtt]) {
          const found = findViolations(readSubtitles(content, 'x'), limits);
          expect(found.map(({ cue, rule }) => `${cue} ${rule}`)).toStrictEqual(
            reported.map(({ cue, rule }) => `${cue} ${rule}`),
          );
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('the limits of cues', () => {
  type Values = Partial<SettingValues>;
  const shape = (flags: CueFlags, project: Values = {}, user: Values = {}) =>
    cueShape(flags, {
      env: {},
      project: { file: 'project', values: project },
      user: { file: 'user', values: user },
    });

  test('are those of the preset', () => {
    expect(shape({ cuePreset: 'netflix' })).toStrictEqual(NETFLIX);
    expect(shape({}, { cuePreset: 'bbc' })).toStrictEqual(BBC);
    expect(shape({})).toStrictEqual({ ...NETFLIX, minDurationMs: 1_000 });
  });

  test.each<readonly [number, CueFlags, Values, Values]>([
    [30, { cuePreset: 'bbc', cueMaxChars: 30 }, {}, {}],
    [30, { cueMaxChars: 30 }, { cuePreset: 'bbc' }, {}],
    [37, { cuePreset: 'bbc' }, { cueMaxChars: 30 }, {}],
    [30, {}, { cuePreset: 'bbc', cueMaxChars: 30 }, {}],
    [37, {}, { cuePreset: 'bbc' }, { cueMaxChars: 30 }],
    [30, {}, { cueMaxChars: 30 }, { cuePreset: 'bbc' }],
  ])(
    'have %i columns with the flags %j, the project %j and the user %j',
    (maxChars, ...sources) => {
      expect(shape(...sources)).toStrictEqual({
        ...shape({ cuePreset: 'bbc' }),
        maxChars,
      });
    },
  );

  test('of a preset give way to a shorter maximum duration', () => {
    expect(shape({ cuePreset: 'bbc', cueMaxDuration: 500 })).toMatchObject({
      maxDurationMs: 500,
      minDurationMs: 500,
    });
  });
});
