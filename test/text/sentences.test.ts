import { assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitClauses, splitSentences } from '../../src/text/sentences.ts';

/** Returns sentences without white space around them. */
const sentences = (text: string) => splitSentences(text).map((piece) => piece.text.trim());
const clauses = (text: string, maxLength: number) =>
  splitClauses(text, maxLength).map((piece) => piece.text);

/** A bar shows where a sentence ends. */
describe('cuts sentences where a reader would', () => {
  test.each([
    ['Hello there. | How are you? | Fine!'],
    ['Dr. Smith met Mrs. Jones on Main St. in Boston. | They talked.'],
    ['Fruit, e.g. Apples or pears, i.e. Pome fruit, is approx. 3.14 kg. | Good.'],
    ['The U.S. Army left. | He lives in the U.S. | They moved there at 5 p.m. | It rained.'],
    ['J. R. R. Tolkien and George W. Bush met. | They ate.'],
    ['He works at Acme Inc. and she at Initech Ltd. | They are rivals.'],
    ['See Fig. 3 and No. 7 on pp. 12-14. | He said no. | Then he left.'],
    ['It costs $3.50 in v2.1.0 of the file a.b.c today. | Next.'],
    ['Well... maybe. | Wait... | What? | Hmm… ok. | So… | Now what?'],
    ['She said "Stop." | He left. | "Really?" she asked. | (He was late.) | So?!'],
    ['“Go!” he shouted. | ‘Why?’ asked she. | [Yes.] | Fine.'],
    ['1. Wash the pan. | 2. Dry it. | (3) Put it away.'],
    ['Ends twice?! | **Bold.** | _Slanted._ | Done'],
    ['In 1999. | Then came 2000. | The end'],
  ])('%s', (marked) => {
    const parts = marked.split('|').map((part) => part.trim());
    expect(sentences(parts.join(' '))).toEqual(parts);
    expect(sentences(parts.join('  '))).toEqual(parts);
  });

  test('after a wide stop, which needs no space', () => {
    const parts = ['你好。', '世界！', '再见？', '「好。」', '完'];
    expect(sentences(parts.join(''))).toEqual(parts);
  });

  test.each([
    ['a blank line always ends one', 'One two\n\nthree', ['One two', 'three']],
    ['even in lower case and after a comma', 'one,\r\n\r\ntwo', ['one,', 'two']],
    ['a heading ends with its line', 'Chapter One\nIt was dark.', ['Chapter One', 'It was dark.']],
    [
      'a wrapped line continues',
      `${'word '.repeat(12)}with\nBob and Ann.`,
      [`${'word '.repeat(12)}with\nBob and Ann.`],
    ],
    ['a line continues in lower case', 'He went\nhome early.', ['He went\nhome early.']],
    ['list items stand alone', 'Buy:\n- milk\n- eggs', ['Buy:', '- milk', '- eggs']],
    ['numbered ones too', 'Do\n1. wash\n2. dry', ['Do', '1. wash', '2. dry']],
  ])('%s', (_name, text, expected) => {
    expect(sentences(text)).toEqual(expected);
  });

  test('returns nothing for an empty text, and white space unchanged', () => {
    expect(splitSentences('')).toEqual([]);
    expect(splitSentences(' \n\n ')).toEqual([{ text: ' \n\n ', start: 0, end: 4 }]);
    expect(splitSentences('  One.  Two. ')).toEqual([
      { text: '  One.  ', start: 0, end: 8 },
      { text: 'Two. ', start: 8, end: 13 },
    ]);
  });
});

describe('cuts long sentences', () => {
  test('at the strongest mark that fits', () => {
    expect(clauses('one, two three; four five, six seven', 24)).toEqual([
      'one, two three; ',
      'four five, six seven',
    ]);
    expect(clauses('alpha beta gamma, delta epsilon zeta', 24)).toEqual([
      'alpha beta gamma, ',
      'delta epsilon zeta',
    ]);
    expect(clauses('a b c d e f g h', 7)).toEqual(['a b c ', 'd e f ', 'g h']);
  });

  test('not at a comma within a number', () => {
    expect(clauses('about 1,234,567,890 stars', 17)).toEqual(['about ', '1,234,567,890 ', 'stars']);
  });

  test('leaves no tiny piece at the end', () => {
    const lengths = clauses('word '.repeat(41).trim(), 200).map((piece) => piece.length);
    expect(lengths).toHaveLength(2);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(80);
  });

  test('within one endless word, but never within a character', () => {
    expect(clauses('x'.repeat(50_000), 240).map((piece) => piece.length)).toEqual([
      ...Array.from({ length: 208 }, () => 240),
      80,
    ]);
    expect(clauses('a😀😀😀', 2)).toEqual(['a', '😀', '😀', '😀']);
  });

  test('refuses a length below one character', () => {
    expect(() => splitClauses('x', 1)).toThrow(RangeError);
    expect(() => splitClauses('x', Number.NaN)).toThrow(RangeError);
  });
});

const awkward = string({
  unit: oneof(
    constantFrom('.', ' ', '\n', '"', ')', '…', '。', '!', ',', 'a', 'B', '1', '\r\n', 'Dr.', '😀'),
    string({ unit: 'binary', maxLength: 2 }),
  ),
  maxLength: 300,
});

describe('for any text', () => {
  test('sentences joined are the text, and none is empty', () => {
    assert(
      property(awkward, (text) => {
        const pieces = splitSentences(text);
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        expect(pieces.every((piece) => piece.text.length > 0)).toBe(true);
        expect(pieces.every((piece) => text.slice(piece.start, piece.end) === piece.text)).toBe(
          true,
        );
      }),
    );
  });

  test('clauses joined are the text, none is empty or too long, none ends within a character', () => {
    assert(
      property(awkward, integer({ min: 2, max: 80 }), (text, maxLength) => {
        const pieces = splitClauses(text, maxLength);
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        for (const piece of pieces) {
          expect(piece.text.length).toBeGreaterThan(0);
          expect(piece.text.length).toBeLessThanOrEqual(maxLength);
          expect(text.slice(piece.start, piece.end)).toBe(piece.text);
          const cut = text.slice(piece.start - 1, piece.start + 1);
          expect(cut).not.toMatch(/^[\uD800-\uDBFF][\uDC00-\uDFFF]$/);
        }
      }),
    );
  });

  const hostile = [
    '.',
    '. ',
    '. 1 ',
    'a.',
    'U.S. ',
    '"',
    '".',
    '\n',
    ' ',
    '。',
    '(',
    'a,',
    '- ',
    'x',
  ];

  test.each(hostile)('takes time linear in the text: %j', (unit) => {
    const fastest = (length: number) => {
      const text = unit.repeat(length / unit.length);
      const runs = Array.from({ length: 3 }, () => {
        // CPU time of this process only.
        const start = process.cpuUsage();
        splitClauses(text, 240);
        return process.cpuUsage(start).user / 1_000;
      });
      return Math.min(...runs);
    };
    const small = fastest(12_500);
    // Eight times the text; quadratic would be sixty-four times the work. The constant is noise.
    expect(fastest(100_000)).toBeLessThan(32 * small + 60);
  });
});
