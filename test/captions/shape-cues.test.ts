import { describe, expect, test } from 'vitest';
import type { CueShape } from '../../src/captions/cue-shape.ts';
import { CUE_PRESETS, lineText } from '../../src/captions/cue-shape.ts';
import { shapeCues } from '../../src/captions/shape-cues.ts';
import type { Timings } from '../../src/captions/timings.ts';
import { timingsOf } from '../../src/captions/timings.ts';
import { findViolations, shownCues } from '../../src/captions/violations.ts';
import { DEFAULT_SHAPE } from './stored-timings.ts';

/** Speech at 60 ms per letter; each `_` is a silence of 100 ms, and not part of the text. */
function spoken(marked: string): Timings {
  let at = 0;
  const words = marked.split(/\s+/).map((word) => {
    const text = word.replaceAll('_', '');
    const startMs = at;
    const endMs = startMs + 60 * text.length;
    at = endMs + 100 * (word.length - text.length);
    return { text, startMs, endMs };
  });
  return timingsOf({ text: marked.replaceAll('_', ''), durationMs: at, complete: true, words });
}

function cues(marked: string, shape: Partial<CueShape> = {}): string[] {
  return shapeCues(spoken(marked), { ...DEFAULT_SHAPE, ...shape }).map(({ lines }) =>
    lines.map((line) => lineText(line)).join(' | '),
  );
}

function times(marked: string, shape: Partial<CueShape> = {}): [number, number][] {
  return shapeCues(spoken(marked), { ...DEFAULT_SHAPE, ...shape }).map(({ startMs, endMs }) => [
    startMs,
    endMs,
  ]);
}

type Row = readonly [
  why: string,
  text: string,
  expected: readonly string[],
  shape?: Partial<CueShape>,
];

describe('cues are cut', () => {
  const rows: readonly Row[] = [
    ['not at all, when all fits', 'A short sentence that fits.', ['A short sentence that fits.']],
    [
      'at the ends of sentences',
      'The first sentence ends here. The second one ends there.',
      ['The first sentence ends here.', 'The second one ends there.'],
      { maxCps: 30 },
    ],
    [
      'at clauses, if a sentence does not fit',
      'When the last of the guests had left the house, she sat down at the window and looked out at the sea.',
      [
        'When the last of the guests | had left the house,',
        'she sat down at the window | and looked out at the sea.',
      ],
    ],
    [
      'in a pause, without either',
      'these are words of somebody who never makes any stop at_____ all that one could hear and who goes on',
      [
        'these are words of somebody | who never makes any stop at',
        'all that one could hear and who goes on',
      ],
    ],
    ['not after an abbreviation', 'It was Dr. Hart. She left.', ['It was Dr. Hart. She left.']],
    [
      'after the quotation mark that ends a sentence, also after a space',
      '« Comment allez-vous, mon ami ? » Personne dans la pièce ne répondit. 🎉 « Ah ! » dit-elle, un peu surprise.',
      [
        '« Comment allez-vous, mon ami ? »',
        'Personne dans la pièce ne répondit. 🎉',
        '« Ah ! » dit-elle, un peu surprise.',
      ],
    ],
    ['at any line break', 'A heading\nand its text', ['A heading', 'and its text']],
    [
      'not where a line was wrapped',
      'This is a line of a text that somebody had wrapped\nat fifty columns.',
      ['This is a line of a text that somebody | had wrapped at fifty columns.'],
    ],
    [
      'at a long silence',
      'We waited____________________ and waited.',
      ['We waited', 'and waited.'],
    ],
    [
      'after each sentence when asked to',
      'Yes. No. Why not?',
      ['Yes.', 'No.', 'Why not?'],
      { by: 'sentence' },
    ],
    ['not into flashes', 'Yes. No. Why not?', ['Yes. No. Why not?']],
    [
      'after each word when asked to, with the signs around it',
      '« Hello — dear 🎉 world ! »',
      ['« Hello —', 'dear 🎉', 'world ! »'],
      { by: 'word' },
    ],
    [
      'around a word that is wider than a line',
      'a Donaudampfschifffahrtsgesellschaft is one',
      ['a', 'Donaudampfschifffahrtsgesellschaft', 'is one'],
      { maxChars: 20 },
    ],
    [
      'not between a word and the straight quotation mark after a space',
      'He wrote that " nobody ever came back from the island " and sealed the letter.',
      ['He wrote that " nobody ever | came back from the island "', 'and sealed the letter.'],
      { maxCps: 40, maxChars: 32 },
    ],
    [
      'before a quotation',
      'The inspector, who had been silent until now, said “Where were you on the night of the fire?” and waited.',
      [
        'The inspector, | who had been silent until now,',
        'said “Where were you on the night | of the fire?” and waited.',
      ],
      { maxCps: 40 },
    ],
    [
      'after a quotation',
      'So he wrote “nobody ever came back from the island” and then he sealed the letter and put it away.',
      [
        'So he wrote “nobody ever | came back from the island”',
        'and then he sealed | the letter and put it away.',
      ],
      { maxCps: 40 },
    ],
    [
      'not after an opening mark, and not before a closing one',
      'Il demanda : « Où est-elle donc partie ? » et puis « Pourquoi ? » sans attendre.',
      ['Il demanda : | « Où est-elle | donc partie ? »', 'et puis « Pourquoi ? » | sans attendre.'],
      { maxCps: 40, maxChars: 22, maxLines: 4 },
    ],
    [
      'not into a cue of one short word',
      'She left the room, and nobody ever saw or heard anything of her again in all those years. Never.',
      [
        'She left the room, and nobody | ever saw or heard anything',
        'of her again in all those years. Never.',
      ],
      { maxCps: 40 },
    ],
    [
      'between words of a language without spaces, and not before a full stop',
      '我们在学习中文。',
      ['我们', '在学习', '中文。'],
      { maxChars: 6, maxLines: 1 },
    ],
  ];
  test.each(rows.map(([why, text, expected, shape = {}]) => ({ why, text, expected, shape })))(
    '$why',
    ({ text, expected, shape }) => {
      expect(cues(text, shape)).toStrictEqual(expected);
    },
  );
});

describe('lines', () => {
  test.each([
    [
      'She put it on the table and went to bed early.',
      'She put it on the table | and went to bed early.',
    ],
    [
      'I have never seen a more beautiful garden than yours.',
      'I have never seen | a more beautiful garden than yours.',
    ],
    [
      '„Das ist doch nicht möglich“, sagte die alte Frau.',
      '„Das ist doch nicht möglich“, | sagte die alte Frau.',
    ],
  ])('of %s end where a reader pauses', (text, expected) => {
    expect(cues(text)).toStrictEqual([expected]);
  });

  test('are as many as allowed and needed', () => {
    const text = 'one two three four five six seven eight nine ten eleven twelve';
    expect(cues(text, { maxChars: 24, maxLines: 3 })).toStrictEqual([
      'one two three four | five six seven eight | nine ten eleven twelve',
    ]);
  });
});

describe('a cue is shown', () => {
  test('until it can be read, if silence follows', () => {
    expect(times('Hi.______________________________ Bye.')[0]).toStrictEqual([0, 1_000]);
    const [[from, to] = [0, 0]] = times(
      'No one reads this in so short a time.____________________________ Bye.',
    );
    expect(to - from).toBeGreaterThanOrEqual((37 * 1_000) / 17);
  });

  test('until just before the next one, if that comes soon', () => {
    expect(times('This is the first sentence.___ This is the second sentence.')).toStrictEqual([
      [0, 1_380 + 300 - 84],
      [1_680, 3_120],
    ]);
  });

  test('at most for the limit, unless its speech is longer', () => {
    expect(times('Wait here.___ What?', { minDurationMs: 300, maxDurationMs: 700 })).toStrictEqual([
      [0, 700],
      [840, 1_140],
    ]);
  });

  test('word by word without gaps, except in silence', () => {
    expect(times('one two___ three____________________ four', { by: 'word' })).toStrictEqual([
      [0, 180],
      [180, 660],
      [660, 1_660],
      [2_960, 3_200],
    ]);
  });
});

test('words without times before and after the speech are shown beside it', () => {
  const words = ['three', 'four', 'five'].map((text, index) => {
    const startMs = 60_000 + 300 * index;
    return { text, startMs, endMs: startMs + 250 };
  });
  const text = 'One two three four five six seven.';
  const timings = timingsOf({ text, durationMs: 120_000, complete: false, words });
  const byWord = shapeCues(timings, { ...DEFAULT_SHAPE, by: 'word' }).map(({ startMs }) => startMs);
  expect(byWord.slice(2, 5)).toStrictEqual([60_000, 60_300, 60_600]);
  expect(byWord.every((startMs) => startMs > 59_000 && startMs < 62_000)).toBe(true);
  const whole = shapeCues(timings, DEFAULT_SHAPE);
  expect(whole).toHaveLength(1);
  expect(whole[0]?.startMs).toBeGreaterThan(59_000);
  expect(whole[0]?.endMs).toBeLessThan(63_000);
});

describe('a word longer than the maximum duration', () => {
  const url = 'https://example.org/documentation/reference/captions/presets/netflix-and-bbc.html';

  test.each([
    ['before', `now. Read ${url}`],
    ['after', `Read ${url} now.`],
    ['on both sides', `Go to ${url} now.`],
  ])('gives time to the cue %s', (_, text) => {
    const words = text.split(' ');
    let at = 0;
    const timings = timingsOf({
      text,
      durationMs: 10_000 + 95 * words.length,
      complete: true,
      words: words.map((word) => {
        const startMs = at;
        at += word === url ? 10_400 : 95;
        return { text: word, startMs, endMs: at };
      }),
    });
    for (const preset of [CUE_PRESETS.netflix, CUE_PRESETS.bbc]) {
      const shape = { ...preset, by: 'phrase' } as const;
      const violations = findViolations(shownCues(shapeCues(timings, shape)), shape);
      expect(violations).toMatchObject([{ rule: 'line-length', value: url.length, text: url }]);
    }
  });
});

test('ten times the text takes about ten times as long', () => {
  const sentence = 'The 3 boats, which “nobody” had seen since 1998, came home — at last! ';
  const took = (count: number): number => {
    const timings = spoken(sentence.repeat(count).trim());
    // Words are spelled out, so that no word matches at its place.
    const words = timings.words.flatMap(({ text, ...time }) =>
      /\d/.test(text)
        ? [
            { ...time, text: 'some' },
            { ...time, text: 'number' },
          ]
        : [{ ...time, text }],
    );
    // CPU time of this process only.
    const began = process.cpuUsage();
    shapeCues(timingsOf({ ...timings, words }), DEFAULT_SHAPE);
    return process.cpuUsage(began).user / 1_000;
  };
  took(30);
  const [short, long] = [30, 300].map((count) => Math.min(took(count), took(count)));
  expect((long ?? 0) / (short ?? 1)).toBeLessThan(30);
});

describe('a line without words', () => {
  const words = [
    { text: 'He', startMs: 0, endMs: 300 },
    { text: 'left', startMs: 300, endMs: 1_200 },
    { text: 'She', startMs: 3_000, endMs: 3_300 },
    { text: 'stayed', startMs: 3_300, endMs: 4_300 },
  ];
  test.each([
    ['after a paragraph', 'He left.\n\n* * *\n\nShe stayed.', ['He left.|* * *', 'She stayed.']],
    ['of one mark', 'He left.\n\n"\n\nShe stayed.', ['He left. "', 'She stayed.']],
    ['after a line', 'He left.\n---\nShe stayed.', ['He left. ---', 'She stayed.']],
    ['twice', 'He left.\n\n…\n\n!\n\nShe stayed.', ['He left. … !', 'She stayed.']],
    ['at the beginning', '* * *\n\nHe left.\n\nShe stayed.', ['* * * He left.', 'She stayed.']],
    ['at the end', 'He left.\n\nShe stayed.\n\n***', ['He left.', 'She stayed. ***']],
  ])('%s is shown with its neighbour', (_what, text, expected) => {
    const timings = timingsOf({ text, durationMs: 4_500, complete: true, words });
    for (const by of ['phrase', 'sentence', 'word'] as const) {
      const shaped = shapeCues(timings, { ...DEFAULT_SHAPE, by });
      const shown = shaped.map(({ lines }) => lines.map((line) => lineText(line)).join(' | '));
      if (by !== 'word') {
        expect(shown.map((one) => one.replace(' | ', ' '))).toEqual(
          expected.map((one) => one.replace('|', ' ')),
        );
        expect(shaped.map(({ startMs }) => startMs)).toEqual([0, 3_000]);
      } else
        expect(
          shown.every((one) => /\p{L}/u.test(one)),
          shown.join('/'),
        ).toBe(true);
      for (const { endMs, startMs } of shaped) expect(endMs - startMs).toBeGreaterThanOrEqual(300);
    }
  });
});
