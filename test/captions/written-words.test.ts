import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { writtenWords } from '../../src/captions/written-words.ts';
import { sliceCodePoints } from '../../src/text/code-points.ts';
import type { SpokenText } from '../../src/text/document.ts';
import { plainText, replaceSpoken } from '../../src/text/document.ts';

/** Words of a text, 100 ms each. */
function timed(text: string) {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word, index) => ({ text: word, startMs: index * 100, endMs: index * 100 + 100 }));
}

function replaced(text: string, written: string, insert: string): SpokenText {
  const start = text.indexOf(written);
  return replaceSpoken(plainText(text), [{ start, end: start + written.length, insert }]);
}

/** Counts the UTF-16 units that are searched for the words of a text. */
function searchedUnits(piece: string, parts: readonly string[], times: number): number {
  const source = replaced(`!${piece.repeat(times)}`, '!', '?');
  const words = Array.from({ length: times }, (_, index) => {
    return { text: parts[index % parts.length] ?? '', startMs: index, endMs: index + 1 };
  });
  let units = 0;
  const { indexOf } = String.prototype;
  const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (
    this: string,
    searched: string,
    from?: number,
  ) {
    const found = indexOf.call(this, searched, from);
    units += found === -1 ? this.length : found + searched.length;
    return found;
  });
  try {
    writtenWords(source, words);
  } finally {
    spy.mockRestore();
  }
  return units;
}

describe('the words of the document', () => {
  it('are the reported words when nothing is replaced', () => {
    const words = timed('Hello there.');
    expect(writtenWords(plainText('Hello there.'), words)).toBe(words);
  });

  it('replace the spoken words, over their whole time', () => {
    const source = replaced('The nginx server', 'nginx', 'engine ex');
    expect(writtenWords(source, timed(source.text))).toEqual([
      { text: 'The', startMs: 0, endMs: 100 },
      { text: 'nginx', startMs: 100, endMs: 300 },
      { text: 'server', startMs: 300, endMs: 400 },
    ]);
  });

  it('share the time of a spoken word by their length', () => {
    const source = replaced('in New York today', 'New York', 'NYC');
    expect(writtenWords(source, timed(source.text))).toMatchObject([
      { text: 'in' },
      { text: 'New', startMs: 100, endMs: expect.closeTo(142.9, 1) },
      { text: 'York', startMs: expect.closeTo(142.9, 1), endMs: 200 },
      { text: 'today', startMs: 200 },
    ]);
  });

  it('keep the rest of a word that is replaced in part', () => {
    const source = replaced("nginx's port", 'nginx', 'engine ex');
    expect(writtenWords(source, timed(source.text)).map(({ text }) => text)).toEqual([
      "nginx's",
      'port',
    ]);
  });

  it('keep reported words that are not in the text', () => {
    const source = replaced('a nginx b', 'nginx', 'engine ex');
    const words = [...timed('a zzz engine ex'), { text: 'b', startMs: 400, endMs: 450 }];
    expect(writtenWords(source, words).map(({ text }) => text)).toEqual(['a', 'zzz', 'nginx', 'b']);
  });

  it('share the time of any number of spoken words', () => {
    const source = replaced('a b c', 'b', 'x '.repeat(200_000).trim());
    const words = writtenWords(source, timed(source.text));
    expect(words.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  });

  it('are found in linear time, whatever the words are', () => {
    const word = fc.constantFrom('a', 'b', 'z', 'aaaaaaaa', 'x'.repeat(500), '', 'ab');
    const pattern = fc.array(word, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pattern, fc.constantFrom('a ', 'ab ', 'x', 'c'), (parts, piece) => {
        const few = searchedUnits(piece, parts, 2_000);
        const many = searchedUnits(piece, parts, 8_000);
        expect(many).toBeLessThanOrEqual(4 * few + 110_000);
        const units = (piece.length + Math.max(...parts.map((one) => one.length))) * 8_000;
        expect(many).toBeLessThanOrEqual(40 * units + 110_000);
      }),
      { numRuns: 40 },
    );
  });

  it('are those of the written text, in order and without overlap, for any replacement of words', () => {
    const word = fc.constantFrom('one', 'two', '👋x', 'API', 'v1.2');
    const drawn = fc.array(
      fc.record({ word, insert: fc.option(fc.array(word, { minLength: 1 })) }),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(drawn, (items) => {
        const written = items.map((item) => item.word).join(' ');
        const lengths = items.map((item) => Array.from(item.word).length);
        const edits = items.flatMap(({ insert }, index) => {
          if (insert === null) return [];
          const start = lengths.slice(0, index).reduce((sum, one) => sum + one + 1, 0);
          return [{ start, end: start + (lengths[index] ?? 0), insert: insert.join(' ') }];
        });
        const source = replaceSpoken(plainText(written), edits);
        const words = writtenWords(source, timed(source.text));
        expect(words.map(({ text }) => text).join(' ')).toBe(sliceCodePoints(written, 0));
        for (const [index, one] of words.entries()) {
          expect(one.endMs).toBeGreaterThan(one.startMs);
          expect(one.startMs).toBeGreaterThanOrEqual((words[index - 1]?.endMs ?? 0) - 1e-6);
        }
      }),
    );
  });
});
