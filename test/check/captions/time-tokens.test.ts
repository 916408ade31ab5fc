import { describe, expect, test } from 'vitest';
import { timeTokens } from '../../../src/captions/time-tokens.ts';
import { timingsOf } from '../../../src/captions/timings.ts';
import { tokenize } from '../../../src/captions/tokens.ts';

type Row = readonly [text: string, startMs: number, endMs: number];

/** Returns the times of the tokens of `text` for these words of a service; the audio ends at 9 s. */
function timed(text: string, words: readonly Row[]): Row[] {
  const timings = timingsOf({
    text,
    durationMs: 9_000,
    complete: true,
    words: words.map(([word, startMs, endMs]) => ({ text: word, startMs, endMs })),
  });
  return timeTokens(tokenize(text), timings).map(({ text: token, startMs, endMs }) => [
    token,
    startMs,
    endMs,
  ]);
}

describe('words of a service', () => {
  test.each<readonly [what: string, text: string, words: readonly Row[], expected: readonly Row[]]>(
    [
      [
        'without punctuation and case',
        '“Hello,” she SAID.',
        [
          ['hello', 0, 300],
          ['she', 400, 500],
          ['said', 500, 900],
        ],
        [
          ['“Hello,”', 0, 300],
          ['she', 400, 500],
          ['SAID.', 500, 900],
        ],
      ],
      [
        'with other accents, compositions and spellings',
        'Straße schön ﬁne ΟΔΟΣ',
        [
          ['Strasse', 0, 1],
          ['scho\u0308n', 2, 3],
          ['fine', 4, 5],
          ['οδος', 6, 7],
        ],
        [
          ['Straße', 0, 1],
          ['schön', 2, 3],
          ['ﬁne', 4, 5],
          ['ΟΔΟΣ', 6, 7],
        ],
      ],
      [
        'that join several tokens share their time by letters',
        'one of the many',
        [
          ['one', 0, 100],
          ['of the', 100, 600],
          ['many', 700, 900],
        ],
        [
          ['one', 0, 100],
          ['of', 100, 300],
          ['the', 300, 600],
          ['many', 700, 900],
        ],
      ],
      [
        'that are parts of a token are joined',
        'a well-known café',
        [
          ['a', 0, 50],
          ['well', 50, 300],
          ['known', 320, 600],
          ['cafe', 700, 900],
        ],
        [
          ['a', 0, 50],
          ['well-known', 50, 600],
          ['café', 700, 900],
        ],
      ],
      [
        'that spell out a number match it',
        'In 2026, we won.',
        [
          ['in', 0, 100],
          ['twenty', 200, 500],
          ['twenty', 500, 800],
          ['six', 800, 1_000],
          ['we', 1_100, 1_200],
          ['won', 1_200, 1_500],
        ],
        [
          ['In', 0, 100],
          ['2026,', 200, 1_000],
          ['we', 1_100, 1_200],
          ['won.', 1_200, 1_500],
        ],
      ],
      [
        'that spell out an abbreviation match it',
        'Dr. Hart, St. Mary',
        [
          ['Doctor', 0, 400],
          ['Hart', 400, 600],
          ['Saint', 700, 900],
          ['Mary', 900, 1_300],
        ],
        [
          ['Dr.', 0, 400],
          ['Hart,', 400, 600],
          ['St.', 700, 900],
          ['Mary', 900, 1_300],
        ],
      ],
      [
        'for a sign match the token with the sign',
        'It is 50% of $5 million',
        [
          ['it', 0, 1],
          ['is', 2, 3],
          ['50', 4, 5],
          ['percent', 6, 7],
          ['of', 8, 9],
          ['5', 10, 11],
          ['million', 12, 13],
          ['dollars', 14, 15],
        ],
        [
          ['It', 0, 1],
          ['is', 2, 3],
          ['50%', 4, 7],
          ['of', 8, 9],
          ['$5', 10, 11],
          ['million', 12, 15],
        ],
      ],
      [
        'for a separate sign match it',
        'salt & pepper',
        [
          ['salt', 0, 300],
          ['and', 300, 400],
          ['pepper', 400, 800],
        ],
        [
          ['salt', 0, 300],
          ['&', 300, 400],
          ['pepper', 400, 800],
        ],
      ],
      [
        'that are not in the text extend the token before them',
        'so we go',
        [
          ['so', 0, 100],
          ['erm', 200, 400],
          ['we', 500, 600],
          ['go', 600, 700],
        ],
        [
          ['so', 0, 400],
          ['we', 500, 600],
          ['go', 600, 700],
        ],
      ],
      [
        'of a language without spaces, cut elsewhere',
        '中国人民很好。',
        [
          ['中', 0, 100],
          ['国人', 100, 300],
          ['民', 300, 400],
          ['很', 400, 500],
          ['好', 500, 700],
        ],
        [
          ['中国', 0, 200],
          ['人民', 200, 400],
          ['很好。', 400, 700],
        ],
      ],
      [
        'from right to left, with direction marks',
        '\u200fשלום, עולם!',
        [
          ['שלום', 0, 400],
          ['עולם', 500, 900],
        ],
        [
          ['\u200fשלום,', 0, 400],
          ['עולם!', 500, 900],
        ],
      ],
    ],
  )('%s', (_, text, words, expected) => {
    expect(timed(text, words)).toStrictEqual(expected);
  });
});

describe('a token without a word', () => {
  test('is timed between its neighbours, by length', () => {
    expect(
      timed('one two three, four', [
        ['one', 0, 100],
        ['four', 900, 950],
      ]),
    ).toStrictEqual([
      ['one', 0, 100],
      ['two', 100, 400],
      ['three,', 400, 900],
      ['four', 900, 950],
    ]);
  });

  test('at the end is shown beside its neighbour, at a speaking rate', () => {
    expect(timed('one two', [['one', 0, 1_000]])).toStrictEqual([
      ['one', 0, 1_000],
      ['two', 1_000, 2_250],
    ]);
  });

  test('has no duration if it is not spoken: after a token, or before the one it opens', () => {
    expect(
      timed('♪ la – la « ok » 🎉\n— no', [
        ['la', 100, 200],
        ['la', 300, 400],
        ['ok', 500, 600],
        ['no', 800, 900],
      ]),
    ).toStrictEqual([
      ['♪', 100, 100],
      ['la', 100, 200],
      ['–', 200, 200],
      ['la', 300, 400],
      ['«', 500, 500],
      ['ok', 500, 600],
      ['»', 600, 600],
      ['🎉', 600, 600],
      ['—', 800, 800],
      ['no', 800, 900],
    ]);
  });

  test('is timed by unrelated words, with their pauses', () => {
    expect(
      timed('你好吗 谢谢', [
        ['ni hao', 0, 400],
        ['ma', 400, 600],
        ['xie xie', 1_000, 1_400],
      ]),
    ).toStrictEqual([
      ['你好', 0, 400],
      ['吗', 400, 600],
      ['谢谢', 1_000, 1_400],
    ]);
  });

  test('is timed without any words', () => {
    expect(timed('one two', [])).toStrictEqual([
      ['one', 0, 4_500],
      ['two', 4_500, 9_000],
    ]);
  });
});

test('missing words of a long text do not change the rest', () => {
  const vocabulary = [
    'river',
    'stone',
    'under',
    'light',
    'seven',
    'garden',
    'window',
    'quiet',
    'north',
    'paper',
  ];
  const words = Array.from({ length: 3_000 }, (_, index) => {
    const at = (index * 7_919) % 1_009;
    return `${vocabulary[at % 10] ?? ''}${vocabulary[(at >> 3) % 10] ?? ''}`;
  });
  const told = words
    .map((text, index) => ({ text, startMs: index * 300, endMs: index * 300 + 250 }))
    .filter((_, index) => index < 1_000 || index >= 2_000);
  const text = words.join(' ');
  const timings = timingsOf({ text, durationMs: 900_000, complete: false, words: told });
  const tokens = timeTokens(tokenize(text), timings);
  for (const [index, { startMs }] of tokens.entries()) {
    if (index < 1_000 || index >= 2_000)
      expect([index, startMs]).toStrictEqual([index, index * 300]);
    else expect(Math.abs(startMs - index * 300)).toBeLessThan(6_000);
  }
});

describe('words that are not in the text', () => {
  test('take time in proportion to their number', () => {
    expect(reads(4_000) / reads(2_000)).toBeLessThan(2.2);
  });

  test('may exceed the limit of function arguments', () => {
    expect(reads(150_000)).toBeGreaterThan(150_000);
  });
});

/** Counts how often word times are read for a text of this many words. */
function reads(count: number): number {
  let times = 0;
  const words = Array.from({ length: count }, (_, index) => ({
    text: 'lighthouse'.slice(0, 3 + (index % 7)),
    get startMs() {
      times += 1;
      return index * 300;
    },
    endMs: index * 300 + 250,
  }));
  const text = Array.from({ length: count + 1 }, () => '\u043c\u0430\u044f\u043a').join(' ');
  const timings = { version: 1, text, durationMs: count * 300, complete: true, words } as const;
  expect(timeTokens(tokenize(text), timings)).toHaveLength(count + 1);
  return times;
}
