import { assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCodePoints } from '../../src/text/code-points.ts';
import { splitParts } from '../../src/text/parts.ts';

const parts = (text: string, limit: number) => splitParts(text, limit).map((part) => part.text);

describe('cuts a long text where a reader would pause', () => {
  test('not at all when it fits', () => {
    expect(parts('One. Two.\n\nThree.', 100)).toEqual(['One. Two.\n\nThree.']);
    expect(parts('12345', 5)).toEqual(['12345']);
  });

  test.each([
    ['at the last sentence that fits', 'One two. Three four. Five six.', 21, 2],
    ['when only the space behind it does not fit', 'One two. Six ten.', 8, 2],
    ['not after an abbreviation', 'We met Dr. Smith. We talked to him.', 20, 2],
    ['not in a number', 'It is 3.14 now. It was 2.71 then.', 17, 2],
    ['not after an initial', 'See J. R. R. Quill. He wrote it all.', 20, 2],
    ['not at an ellipsis within a sentence', 'So... maybe so. And then it ended.', 18, 2],
    ['not between a stop and its quote', 'She said “Stop it.” He left at once.', 21, 2],
    ['after a wide stop', '你好世界。今天天气很好。', 7, 2],
  ])('%s', (_name, text, limit, count) => {
    const cut = parts(text, limit);
    expect(cut).toHaveLength(count);
    expect(cut[0]).toMatch(/[.。”]$/);
    expect(cut.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
  });

  test('at the end of a paragraph rather than a sentence further', () => {
    const text = `${'A sentence. '.repeat(8).trim()}\n\nShort one. ${'More of it. '.repeat(8)}`;
    expect(parts(text, 115)[0]).toBe(`${'A sentence. '.repeat(8).trim()}\n\n`);
  });

  test('a sentence that does not fit begins the next part, however early', () => {
    expect(parts(`Hi. ${'Word '.repeat(15)}end.`, 80)).toEqual([
      'Hi.',
      `${'Word '.repeat(15)}end.`,
    ]);
  });

  test.each([
    ['a clause', 'alpha beta gamma; delta epsilon zeta eta', 24, 'alpha beta gamma;'],
    ['a comma', 'alpha beta gamma, delta epsilon zeta eta', 24, 'alpha beta gamma,'],
    ['a word', 'alpha beta gamma delta epsilon zeta eta', 24, 'alpha beta gamma delta'],
    ['a Thai word, which has no space', 'ภาษาไทยเป็นภาษาที่สวยงามมาก', 9, 'ภาษาไทย'],
    ['a Chinese word', '我们今天下午一起去图书馆看书', 7, '我们今天下午'],
    ['a whole letter', '👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 15, '👩‍👩‍👧‍👦👩‍👩‍👧‍👦'],
    ['a letter and its marks', 'a\u0301'.repeat(9), 5, 'a\u0301a\u0301'],
    ['a code point at the least', '👩‍👩‍👧‍👦', 3, '👩‍👩'],
  ])('a sentence that is too long after %s', (_name, text, limit, first) => {
    expect(parts(text, limit)[0]).toBe(first);
  });

  test('one endless word into the longest parts', () => {
    const cut = parts('x'.repeat(50_000), 9_000);
    expect(cut.map((part) => part.length)).toEqual([9000, 9000, 9000, 9000, 9000, 5000]);
  });

  test('drops white space between parts, and keeps it within', () => {
    expect(parts(`One  two. \n Three.\n`, 12)).toEqual(['One  two.', 'Three.']);
  });

  test('keeps the line breaks that end a paragraph, if they fit', () => {
    const text = `One  two.${' \n'.repeat(500)}Three.\r\n\r\nFour.\n\n`;
    expect(parts(text, 13)).toEqual(['One  two. \n \n', 'Three.\r\n\r\n', 'Four.']);
    expect(parts(text, 12)[0]).toBe('One  two.');
  });

  test('leaves no last part without letters', () => {
    expect(parts('One is here. Two is here. * * *', 26)).toEqual([
      'One is here.',
      'Two is here. * * *',
    ]);
  });

  test('refuses an invalid limit', () => {
    expect(() => splitParts('x', 0)).toThrow(RangeError);
    expect(() => splitParts('x', 1.5)).toThrow(RangeError);
    expect(() => splitParts('x', Number.NaN)).toThrow(RangeError);
  });
});

const awkward = string({
  unit: oneof(
    constantFrom(
      '. ',
      ' ',
      '\n\n',
      '"',
      ')',
      '…',
      '。',
      '!',
      ', ',
      'a',
      'B',
      '1.5',
      'Dr. ',
      '👩‍👧',
      'é',
    ),
    string({ unit: 'binary', maxLength: 2 }),
  ),
  maxLength: 300,
});

/** Nothing, or white space up to a second line break. */
const PARAGRAPH_END =
  /^(?:[^\S\n\r]*(?:\r\n|[\n\r\u2028\u2029])[^\S\n\r]*(?:\r\n|[\n\r\u2028\u2029]))?$/;

describe('for any text and limit', () => {
  test('the parts have the whole text but the white space between them, and fit', () => {
    assert(
      property(awkward, integer({ min: 1, max: 80 }), (text, limit) => {
        const cut = splitParts(text, limit);
        let at = 0;
        for (const part of cut) {
          expect(text.slice(at, part.start).trim()).toBe('');
          expect(text.slice(part.start, part.end)).toBe(part.text);
          expect(part.text.trimStart()).toBe(part.text);
          expect(part.text.slice(part.text.trimEnd().length)).toMatch(PARAGRAPH_END);
          expect(part.text.trim()).not.toBe('');
          expect(countCodePoints(part.text)).toBeLessThanOrEqual(limit);
          const edge = text.slice(part.end - 1, part.end + 1);
          expect(edge).not.toMatch(/^[\uD800-\uDBFF][\uDC00-\uDFFF]$/);
          at = part.end;
        }
        expect(text.slice(at).trim()).toBe('');
        expect(splitParts(text, limit)).toEqual(cut);
      }),
    );
  });

  test('two neighbours never fit into one, except at a paragraph, a sentence or the end', () => {
    assert(
      property(awkward, integer({ min: 20, max: 80 }), (text, limit) => {
        const cut = splitParts(text, limit).slice(0, -1);
        const needed = Math.ceil(countCodePoints(text) / limit);
        // A part and the next exceed the limit, or the cut is far enough.
        expect(cut.length).toBeLessThanOrEqual(4 * needed + 1);
      }),
    );
  });

  test('no grapheme is cut that fits into a part', () => {
    const letters = constantFrom(
      'a',
      'é',
      'a\u0301\u0323',
      '👩‍👩‍👧‍👦',
      '🇩🇪',
      '👍🏽',
      'ก็',
      'नि',
      '각',
      '한',
      '1️⃣',
      '. ',
      ', ',
      '–',
      '。',
      '\r\n',
      'ﷺ',
      '\u0600\u0661',
      'x\u200dy',
      '🏴\u{e0067}\u{e0062}\u{e007f}',
      'Dr. ',
    );
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
    assert(
      property(
        string({ unit: letters, maxLength: 120 }),
        integer({ min: 8, max: 60 }),
        (text, limit) => {
          const edges = new Set(Array.from(segmenter.segment(text), ({ index }) => index)).add(
            text.length,
          );
          const isEdge = (at: number): boolean => edges.has(at);
          for (const { start, end } of splitParts(text, limit)) {
            // Dropped white space belongs to neither.
            expect(isEdge(start) || /\s/.test(text.charAt(start - 1))).toBe(true);
            expect(isEdge(end) || /\s/.test(text.charAt(end))).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  const hostile = [
    '. ',
    '. 1 ',
    'a.',
    '"',
    '.”',
    '\n',
    ' ',
    '。',
    '(',
    'a, ',
    '- ',
    'x',
    '\u0301',
    '👩‍',
    'ก',
    '🇦',
  ];

  test.each(hostile)('takes time linear in the text: %j', (unit) => {
    const fastest = (length: number) => {
      const text = `a${unit.repeat(length / unit.length)}b`;
      const runs = Array.from({ length: 3 }, () => {
        // CPU time of this process only.
        const start = process.cpuUsage();
        splitParts(text, 500);
        return process.cpuUsage(start).user / 1_000;
      });
      return Math.min(...runs);
    };
    const small = fastest(12_500);
    // Eight times the text; quadratic would be sixty-four times the work. The constant is noise.
    expect(fastest(100_000)).toBeLessThan(32 * small + 60);
  });

  test.each(['^a', '我们的中文', 'สวัสดีครับ'])(
    'takes 2 µs for a character of a text without spaces: %j',
    (unit) => {
      const text = unit.repeat(800_000 / unit.length);
      const start = process.cpuUsage();
      splitParts(text, 10_000);
      expect(process.cpuUsage(start).user).toBeLessThan(2 * text.length);
    },
  );
});
