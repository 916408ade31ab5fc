import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCodePoints, sliceCodePoints } from '../../src/text/code-points.ts';
import type { Edit, SpokenText } from '../../src/text/document.ts';
import {
  joinSpoken,
  plainText,
  replaceSpoken,
  withWritten,
  writtenEdits,
  writtenRanges,
} from '../../src/text/document.ts';

describe('a spoken text', () => {
  it('of plain text is the text, with nothing replaced', () => {
    expect(plainText('Hi 👋')).toEqual({
      text: 'Hi 👋',
      written: 'Hi 👋',
      replaced: [],
      pauses: [],
    });
  });

  it('keeps the written words of a replacement, by code points', () => {
    const source = plainText('👋 nginx runs.', [{ at: 8, ms: 500 }]);
    expect(replaceSpoken(source, [{ start: 2, end: 7, insert: 'engine x' }])).toEqual({
      text: '👋 engine x runs.',
      written: '👋 nginx runs.',
      replaced: [{ written: { start: 2, end: 7 }, spoken: { start: 2, end: 10 } }],
      pauses: [{ at: 11, ms: 500 }],
    });
  });

  it('leaves out a replacement that changes nothing', () => {
    const same = replaceSpoken(plainText('a b'), [{ start: 0, end: 1, insert: 'a' }]);
    expect(same).toEqual(plainText('a b'));
  });

  it('maps a part of a replacement to everything that was written for it', () => {
    const spoken = replaceSpoken(plainText('The API of it'), [
      { start: 4, end: 7, insert: 'A P I' },
    ]);
    const toWritten = writtenRanges(spoken);
    expect(toWritten({ start: 6, end: 7 })).toEqual({ start: 4, end: 7 });
    expect(toWritten({ start: 10, end: 12 })).toEqual({ start: 8, end: 10 });
    expect(toWritten({ start: 0, end: 3 })).toEqual({ start: 0, end: 3 });
  });

  it('joins parts, and moves their replacements and pauses', () => {
    const part = replaceSpoken(plainText('ab', [{ at: 2, ms: 9 }]), [
      { start: 0, end: 1, insert: 'long' },
    ]);
    const joined = joinSpoken([part, part], '\n\n');
    expect(joined.text).toBe('longb\n\nlongb');
    expect(joined.written).toBe('ab\n\nab');
    expect(joined.replaced[1]).toEqual({
      written: { start: 4, end: 5 },
      spoken: { start: 7, end: 11 },
    });
    expect(joined.pauses).toEqual([
      { at: 5, ms: 9 },
      { at: 12, ms: 9 },
    ]);
  });
});

const words = fc.array(fc.constantFrom('a', 'bc', ' ', '👋', 'é', 'x'), { maxLength: 12 });

/** Edits of a text, in order and without overlap. */
function editsOf(text: string): fc.Arbitrary<Edit[]> {
  const length = countCodePoints(text);
  return fc.array(fc.tuple(fc.nat(length), fc.nat(3), words), { maxLength: 4 }).map((drawn) => {
    const edits: Edit[] = [];
    for (const [start, size, inserted] of drawn.toSorted(([a], [b]) => a - b)) {
      const end = Math.min(length, start + size);
      if (start >= (edits.at(-1)?.end ?? 0)) edits.push({ start, end, insert: inserted.join('') });
    }
    return edits;
  });
}

const edited = words
  .map((drawn) => drawn.join(''))
  .chain((text) => fc.tuple(fc.constant(plainText(text)), editsOf(text)))
  .map(([source, edits]) => replaceSpoken(source, edits))
  .chain((once) => fc.tuple(fc.constant(once), editsOf(once.text)));

/** Replaces every spoken range by what is written for it. */
function writtenOf({ replaced, text, written }: SpokenText): string {
  let result = '';
  let done = 0;
  for (const one of replaced) {
    result += sliceCodePoints(text, done, one.spoken.start);
    expect(countCodePoints(result)).toBe(one.written.start);
    result += sliceCodePoints(written, one.written.start, one.written.end);
    done = one.spoken.end;
  }
  return result + sliceCodePoints(text, done);
}

function apply(text: string, edits: readonly Edit[]): string {
  let result = '';
  let done = 0;
  for (const { end, insert, start } of edits) {
    result += sliceCodePoints(text, done, start) + insert;
    done = end;
  }
  return result + sliceCodePoints(text, done);
}

describe('edits of a spoken text', () => {
  it('apply to what is spoken, and what is written can be restored, also after two rounds', () => {
    fc.assert(
      fc.property(edited, ([once, edits]) => {
        const twice = replaceSpoken(once, edits);
        expect(twice.text).toBe(apply(once.text, edits));
        expect(writtenOf(twice)).toBe(twice.written);
        expect(twice.written).toBe(once.written);
      }),
    );
  });

  it('are restored from what is spoken and the edits that give what is written', () => {
    fc.assert(
      fc.property(edited, ([once, edits]) => {
        const spoken = replaceSpoken(once, edits);
        const restored = withWritten(spoken.text, writtenEdits(spoken));
        expect(restored.written).toBe(spoken.written);
        expect(writtenOf(restored)).toBe(spoken.written);
      }),
    );
  });

  it('map ranges of the spoken text to ranges of the written text, in order', () => {
    fc.assert(
      fc.property(edited, fc.nat(20), fc.nat(20), ([once, edits], a, b) => {
        const spoken = replaceSpoken(once, edits);
        const length = countCodePoints(spoken.text);
        const [start, end] = [Math.min(a, b, length), Math.min(Math.max(a, b), length)];
        const range = writtenRanges(spoken)({ start, end });
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeLessThanOrEqual(countCodePoints(spoken.written));
      }),
    );
  });
});
