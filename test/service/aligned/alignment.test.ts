import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SpeechChunk, WordMark } from '../../../src/service/engine/speech-engine.ts';
import type { AlignmentUpdate } from '../../../src/service/speech/aligned-body.ts';
import { SpeechAlignment, estimateWords } from '../../../src/service/speech/aligned-body.ts';

const RATE = 1_000;

function chunk(ms: number, told: Pick<SpeechChunk, 'words' | 'span'> = {}): SpeechChunk {
  return { samples: new Float32Array(ms).fill(0.1), sampleRate: RATE, ...told };
}

function follow(text: string, chunks: readonly SpeechChunk[]) {
  const alignment = new SpeechAlignment(text, 0);
  const updates: AlignmentUpdate[] = [];
  for (const one of chunks) {
    alignment.add(one);
    updates.push(...alignment.take());
  }
  const status = alignment.finish();
  updates.push(...alignment.take());
  return { updates, status };
}

/** What holds at the end: the words of each chunk that has any, in order. */
function finalWords(updates: readonly AlignmentUpdate[]): string[] {
  const chunks = new Map<number, readonly string[]>();
  for (const { name, data } of updates) {
    if (name === 'alignment_snapshot') {
      chunks.set(
        data.chunkSeq,
        data.words.map(({ text }) => text),
      );
    } else chunks.delete(data.chunkSeq);
  }
  return [...chunks].toSorted(([a], [b]) => a - b).flatMap(([, words]) => words);
}

/** The words of a text by white space, a tenth of a second each. */
function marksOf(text: string): WordMark[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: word, index }, at) => {
    const start = Array.from(text.slice(0, index)).length;
    const end = start + Array.from(word).length;
    return { start, end, startMs: at * 100, endMs: at * 100 + 90 };
  });
}

const sentence = fc
  .array(fc.constantFrom('Hello', 'wörld', '你好', '42', '😀', '—', 'مرحبا'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((words) => `Hello ${words.join(' ')}. `);
const texts = fc.array(sentence, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));

describe('reported word times', () => {
  test('are in the end those of the engine, in whatever order it reported them', () => {
    fc.assert(
      fc.property(texts, fc.infiniteStream(fc.nat({ max: 4 })), (text, sizes) => {
        const marks = marksOf(text);
        const chunks: SpeechChunk[] = [];
        for (let at = 0; at < marks.length;) {
          const { value: size } = sizes.next();
          chunks.push(chunk(100 * size, { words: marks.slice(at, at + size) }));
          at += size;
        }
        const { updates, status } = follow(text, chunks);
        const words = marks.map(({ start, end }) => Array.from(text).slice(start, end).join(''));
        expect(finalWords(updates)).toEqual(words);
        expect(status).toBe('complete');
        const numbers = updates.map(({ data }) => data.chunkSeq);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect([...new Set(numbers)]).toEqual([...new Set(numbers)].map((_, index) => index));
      }),
    );
  });

  test('of a sentence that the engine skips is that nothing is known, once', () => {
    fc.assert(
      fc.property(texts, fc.nat(), (text, choice) => {
        const marks = marksOf(text);
        const skipped = sentencesIn(text)[choice % sentencesIn(text).length];
        if (skipped === undefined) return;
        const kept = marks.filter(({ start }) => start < skipped.start || start >= skipped.end);
        const isMissed = kept.length < marks.length;
        const { updates, status } = follow(text, [chunk(1_000, { words: kept })]);
        const invalidated = updates.filter(({ name }) => name === 'alignment_invalidated');
        expect(invalidated).toHaveLength(isMissed ? 1 : 0);
        expect(status).toBe(isMissed ? 'partial' : 'complete');
      }),
    );
  });

  test('is nothing of a text without a word', () => {
    expect(follow('… — 🎉!', [chunk(100)])).toEqual({ updates: [], status: 'complete' });
  });

  test('begins with an estimate where the engine says what a sound is of', () => {
    const { updates } = follow('One. Two.', [
      chunk(100, { span: { start: 0, end: 5 } }),
      chunk(100, { span: { start: 5, end: 9 } }),
      chunk(0, { words: [{ start: 5, end: 8, startMs: 110, endMs: 180 }] }),
    ]);
    const { units } = { units: 'milliseconds' };
    expect(updates).toEqual([
      {
        name: 'alignment_snapshot',
        data: { chunkSeq: 0, units, words: [{ text: 'One', startMs: 0, endMs: 100 }] },
      },
      { name: 'alignment_invalidated', data: { chunkSeq: 0 } },
      {
        name: 'alignment_snapshot',
        data: { chunkSeq: 1, units, words: [{ text: 'Two', startMs: 100, endMs: 200 }] },
      },
      {
        name: 'alignment_snapshot',
        data: { chunkSeq: 1, units, words: [{ text: 'Two', startMs: 110, endMs: 180 }] },
      },
    ]);
  });
});

describe('a word without a time beside words with times', () => {
  const text = 'Hello 你好 world 😀 — and more.';
  const marks = marksOf(text);
  const statusOf = (isKnown: boolean, words: readonly WordMark[]): string => {
    const alignment = new SpeechAlignment(text, 0, isKnown);
    alignment.add(chunk(2_000, { words }));
    return alignment.finish();
  };

  test('makes the alignment partial if the engine does not know what it leaves out', () => {
    expect(statusOf(false, marks)).toBe('complete');
    expect(statusOf(false, marks.toSpliced(1, 1))).toBe('partial');
  });

  test('does not if the engine knows it before it speaks', () => {
    expect(statusOf(true, marks.toSpliced(1, 1))).toBe('complete');
  });

  test('does not if another word has its time', () => {
    const [first, , third, ...others] = marks;
    if (first === undefined || third === undefined) throw new Error('too few words');
    const joined = { ...first, end: third.end, endMs: third.endMs };
    expect(statusOf(false, [joined, ...others])).toBe('complete');
  });
});

function sentencesIn(text: string): { readonly start: number; readonly end: number }[] {
  let start = 0;
  return text.split(/(?<=\. )/u).map((part) => {
    const end = start + Array.from(part).length;
    const found = { start, end };
    start = end;
    return found;
  });
}

describe('an estimate', () => {
  test('shares the sound among the words by their lengths, silence around it left out', () => {
    const samples = new Float32Array(1_000);
    samples.fill(0.1, 200, 800);
    const words = estimateWords(
      '“One,” two!',
      { samples, sampleRate: RATE },
      { first: 7, offsetMs: 50 },
    );
    expect(words).toEqual([
      { start: 8, end: 11, startMs: 250, endMs: 550 },
      { start: 14, end: 17, startMs: 550, endMs: 850 },
    ]);
  });

  test('of silence, and of no word, is no failure', () => {
    const sound = { samples: new Float32Array(100), sampleRate: RATE };
    expect(estimateWords('…', sound, { first: 0, offsetMs: 0 })).toEqual([]);
    expect(estimateWords('One', sound, { first: 0, offsetMs: 0 })).toEqual([
      { start: 0, end: 3, startMs: 0, endMs: 100 },
    ]);
  });
});
