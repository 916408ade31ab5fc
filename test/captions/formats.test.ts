import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cue } from '../../src/captions/cue-shape.ts';
import { SUBTITLE_FORMATS } from '../../src/captions/cue-shape.ts';
import { withDirectionMarks } from '../../src/captions/cue-writing.ts';
import { readCues, timingsOfCues } from '../../src/captions/read-cues.ts';
import { subtitlesOf } from '../../src/captions/subtitles.ts';
import { timingsOf } from '../../src/captions/timings.ts';
import { CUE_PRESETS } from '../../src/captions/cue-shape.ts';

const SHAPE = { ...CUE_PRESETS.netflix, by: 'phrase' } as const;
const NOTHING = timingsOf({ text: '', durationMs: 0, complete: true, words: [] });

/** A cue whose words begin at these times; a time of 0 is the start of the cue. */
function cue(startMs: number, endMs: number, ...lines: readonly (readonly Word[])[]): Cue {
  return {
    startMs,
    endMs,
    lines: lines.map((line, lineIndex) =>
      line.map(([text, at], index) => ({
        text,
        gap: index + lineIndex === 0 ? '' : ' ',
        startMs: startMs + at,
      })),
    ),
  };
}
type Word = readonly [text: string, at: number];

function file(format: (typeof SUBTITLE_FORMATS)[number], cues: readonly Cue[]): string {
  return subtitlesOf(NOTHING, SHAPE, format, cues).content;
}

/** The part of the file that is about cues. */
function events(format: 'ass' | 'ttml', ...cues: readonly Cue[]): readonly string[] {
  return file(format, cues)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(?:Dialogue|<p )/.test(line));
}

describe('Advanced SubStation Alpha', () => {
  test('has the durations of words in hundredths of a second, which add up to the cue', () => {
    const spoken = cue(
      1_004,
      3_006,
      [
        ['Hello', 0],
        ['there,', 296],
      ],
      [['you', 1_000]],
    );
    expect(events('ass', spoken)).toEqual([
      String.raw`Dialogue: 0,0:00:01.00,0:00:03.01,Default,,0,0,0,,{\k30}Hello {\k70}there,\N{\k101}you`,
    ]);
  });

  test('waits for the first word of a cue that is shown early', () => {
    const spoken = cue(1_000, 2_000, [
      ['Hello', 250],
      ['you', 500],
    ]);
    const [event = ''] = events('ass', spoken);
    expect(event).toContain(String.raw`,,{\k25}{\k25}Hello {\k50}you`);
    expect(readCues(file('ass', [spoken]), 'a.ass')).toEqual([spoken]);
  });

  test('without word times has no karaoke', () => {
    expect(
      events(
        'ass',
        cue(0, 900, [
          ['Hello', 0],
          ['you', 0],
        ]),
      ),
    ).toEqual(['Dialogue: 0,0:00:00.00,0:00:00.90,Plain,,0,0,0,,Hello you']);
  });

  test('lets braces and backslashes be text, and a comma not end the name', () => {
    const spoken = {
      ...cue(3_600_000, 3_601_000, [
        ['{a}', 0],
        ['\\N', 0],
      ]),
      speaker: 'Ann, 9',
    };
    expect(events('ass', spoken)).toEqual([
      'Dialogue: 0,1:00:00.00,1:00:01.00,Plain,Ann  9,0,0,0,,\\{a\\} \\\u2060N',
    ]);
  });

  test('is read with comments, drawings, other fields and overrides', () => {
    const content = [
      '[Script Info]',
      '[V4+ Styles]',
      'Format: Name, Fontname',
      '[Events]',
      'Format: Start, End, Name, Text',
      'Comment: 0:00:00.00,0:00:01.00,,never shown',
      String.raw`Dialogue: 0:00:02.00,0:00:03.00,,{\i1}later{\i0}, with a comma`,
      String.raw`Dialogue: 0:00:01.00,0:00:02.00,Ann,{\kf20}one{\ko30} two\hthree\nfour\N{\p1}m 0 0{\p0}five`,
    ].join('\r\n');
    expect(readCues(content, 'a.ass')).toEqual([
      {
        ...cue(
          1_000,
          2_000,
          [
            ['one', 0],
            ['two', 200],
            ['three', 200],
            ['four', 200],
          ],
          [['five', 200]],
        ),
        speaker: 'Ann',
      },
      cue(2_000, 3_000, [
        ['later,', 0],
        ['with', 0],
        ['a', 0],
        ['comma', 0],
      ]),
    ]);
  });
});

describe('TTML', () => {
  test('has breaks, escaped text, and the speakers as agents', () => {
    const spoken = {
      ...cue(
        1,
        900,
        [
          ['a<b', 0],
          ['&', 0],
        ],
        [['c', 0]],
      ),
      speaker: 'A & B',
    };
    expect(events('ttml', spoken)).toEqual([
      '<p begin="00:00:00.001" end="00:00:00.900" ttm:agent="speaker1"><span style="box">a&lt;b &amp;<br/>c</span></p>',
    ]);
    expect(readCues(file('ttml', [spoken]), 'a.ttml')).toEqual([spoken]);
  });

  test.each([
    ['begin="1.5s" end="2500ms"', 1_500, 2_500],
    ['begin="00:00:01:15" dur="1s"', 1_500, 2_500],
    ['begin="45f" end="75f"', 1_500, 2_500],
    ['begin="15000000t" end="25000000t"', 1_500, 2_500],
    ['begin="0.5m" end="0.01h"', 30_000, 36_000],
  ])('is read with times such as %s', (times, startMs, endMs) => {
    const content = `<tt xmlns:ttp="http://www.w3.org/ns/ttml#parameter" ttp:tickRate="10000000" ttp:frameRate="30"><body><div><p ${times}>a</p></div></body></tt>`;
    expect(readCues(content, 'a.ttml')).toEqual([cue(startMs, endMs, [['a', 0]])]);
  });

  test('is read with times of its containers and of words, and without ruby pronunciations', () => {
    const content = `<?xml version="1.0"?><tt xmlns:tts="t"><body begin="10s"><div begin="1s">
      <p begin="0s" end="2s">one
        <span begin="0.5s">two</span><br/>
        <span tts:ruby="container"><span tts:ruby="base">京</span><span tts:ruby="text">きょう</span></span></p>
    </div></body></tt>`;
    expect(readCues(content, 'a.ttml')).toEqual([
      cue(
        11_000,
        13_000,
        [
          ['one', 0],
          ['two', 500],
        ],
        [['京', 0]],
      ),
    ]);
  });

  test.each([
    ['<p begin="1" end="2s">a</p>', 'a.ttml, line 1: not a time: "1"'],
    ['<p begin="1s">a</p>', 'a.ttml, line 1: a paragraph has no end'],
  ])('%s is refused', (paragraph, message) => {
    const content = `<tt><body><div>${paragraph}</div></body></tt>`;
    expect(() => readCues(content, 'a.ttml')).toThrow(message);
  });
});

describe('LRC', () => {
  test('has a time before each word, and an empty line at a pause only', () => {
    const cues = [
      cue(
        61_000,
        62_000,
        [
          ['One', 0],
          ['two', 400],
        ],
        [['three', 700]],
      ),
      cue(62_100, 63_000, [['four', 0]]),
      cue(5_400_000, 5_401_000, [
        ['<00:01>', 0],
        ['five', 500],
      ]),
    ];
    expect(file('lrc', cues)).toBe(
      '[01:01.000]<01:01.000>One <01:01.400>two <01:01.700>three\n' +
        '[01:02.100]four\n[01:03.000]\n' +
        '[90:00.000]<90:00.000><\u206000:01> <90:00.500>five\n[90:01.000]\n',
    );
  });

  test('is read with repeated lines, an offset, and tags', () => {
    const content =
      '[ti:A song]\n[offset:+500]\n[00:03.5][00:01.00]again and\n[00:02:25]<00:02.25>one <00:02.75>two\n[00:05]';
    expect(readCues(content, 'a.lrc')).toEqual([
      cue(500, 1_750, [
        ['again', 0],
        ['and', 0],
      ]),
      cue(1_750, 3_000, [
        ['one', 0],
        ['two', 500],
      ]),
      cue(3_000, 4_500, [
        ['again', 0],
        ['and', 0],
      ]),
    ]);
  });

  test('with an invalid time is refused', () => {
    expect(() => readCues('[00:01.00]a\n[00:99.00]b', 'a.lrc')).toThrow(
      'a.lrc, line 2: not a time of a line of lyrics: "00:99.00"',
    );
  });
});

/** The lines with marks. */
function marked(...lines: readonly string[]): readonly string[] {
  const cues = [cue(0, 1_000, ...lines.map((line) => [[line, 0] as const]))];
  return withDirectionMarks(cues).flatMap(({ lines: shown }) =>
    shown.map((line) => wordsIn(line).join('')),
  );
}

describe('right-to-left marks', () => {
  test('are at the edges of lines that are no right-to-left letters', () => {
    expect(marked('שלום עולם.')).toEqual(['שלום עולם.\u200f']);
    expect(marked('YouTube הוא אתר', '2026 שנה')).toEqual([
      '\u200fYouTube הוא אתר',
      '\u200f2026 שנה',
    ]);
    expect(marked('مَرْحَبًا')).toEqual(['مَرْحَبًا']);
  });

  test('are not in left-to-right text that has a right-to-left word', () => {
    expect(marked('The word שלום means peace.')).toEqual(['The word שלום means peace.']);
  });
});

test('each format keeps the text and the times of cues', () => {
  const text = fc.constantFrom(
    'Hello',
    'a&b',
    '<i',
    '{x}',
    'שלום',
    '京都',
    'e\u0301',
    '12:30',
    '[x]',
  );
  const cues = fc
    .array(
      fc.record({
        wait: fc.integer({ min: 0, max: 90_000 }),
        words: fc.array(fc.record({ text, lasts: fc.integer({ min: 20, max: 5_000 }) }), {
          minLength: 1,
          maxLength: 5,
        }),
        // One word a line is enough to break it.
        isBroken: fc.boolean(),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((made) => {
      let now = 0;
      return made.map(({ isBroken, wait, words }): Cue => {
        const startMs = now + wait;
        now = startMs;
        const spoken = words.map((word) => {
          now += word.lasts;
          return [word.text, now - word.lasts - startMs] as const;
        });
        return isBroken
          ? cue(startMs, now, ...spoken.map((word) => [word]))
          : cue(startMs, now, spoken);
      });
    });
  fc.assert(
    fc.property(cues, (given) => {
      for (const format of SUBTITLE_FORMATS) {
        const read = readCues(file(format, given), `a.${format}`);
        const rounding = format === 'ass' ? 10 : 0;
        expect([format, read.length]).toEqual([format, given.length]);
        for (const [index, { endMs, lines, startMs }] of read.entries()) {
          const wanted = given[index] ?? cue(0, 0);
          const isLrc = format === 'lrc';
          const texts = (from: Cue['lines']) => from.map((line) => wordsIn(line));
          const shown = texts(wanted.lines);
          expect(texts(lines)).toEqual(isLrc ? [shown.flat()] : shown);
          expect(Math.abs(startMs - wanted.startMs)).toBeLessThanOrEqual(rounding);
          // A line of lyrics ends at a pause or where the next one begins.
          if (!isLrc) expect(Math.abs(endMs - wanted.endMs)).toBeLessThanOrEqual(rounding);
          if (format === 'srt' || format === 'ttml') continue;
          for (const [at, start] of startsIn(lines).entries()) {
            const wantedStart = startsIn(wanted.lines)[at] ?? NaN;
            expect(Math.abs(start - wantedStart)).toBeLessThanOrEqual(rounding);
          }
        }
      }
    }),
  );
});

function startsIn(lines: Cue['lines']): readonly number[] {
  return lines.flatMap((line) => line.map(({ startMs }) => startMs));
}

function wordsIn(line: Cue['lines'][number]): readonly string[] {
  return line.map(({ text }) => text);
}

describe('timings of cues', () => {
  test('have the times of words that the file has', () => {
    const spoken = {
      ...cue(1_000, 2_000, [
        ['one', 0],
        ['two', 400],
      ]),
      speaker: 'Ann',
    };
    expect(timingsOfCues([spoken])).toEqual({
      version: 1,
      text: 'one two',
      durationMs: 2_000,
      complete: true,
      words: [
        { text: 'one', startMs: 1_000, endMs: 1_400 },
        { text: 'two', startMs: 1_400, endMs: 2_000 },
      ],
      lines: [{ speaker: 'Ann', text: 'one two', startMs: 1_000, endMs: 2_000, words: 2 }],
    });
  });

  test('share the time of a cue without word times by the lengths of the words', () => {
    const { complete, words } = timingsOfCues([
      cue(0, 1_000, [
        ['a', 0],
        ['four', 0],
      ]),
    ]);
    expect([complete, words]).toEqual([
      false,
      [
        { text: 'a', startMs: 0, endMs: 200 },
        { text: 'four', startMs: 200, endMs: 1_000 },
      ],
    ]);
  });

  test('of 200,000 cues end with the last of them', () => {
    const last = cue(1, 3_000, [['b', 0]]);
    const many = Array.from({ length: 200_000 }, () => cue(0, 2_000, [['a', 0]]));
    expect(timingsOfCues([...many, last]).durationMs).toBe(3_000);
  });
});
