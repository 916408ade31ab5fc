import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { feedText, createSegmentCutter } from '../../src/live/feed-text.ts';
import { splitSentences } from '../../src/text/sentences.ts';
import { manualClock } from '../api/manual-clock.ts';

const CLEAR_END_MS = 120;
const FLUSH_AFTER_MS = 700;

interface Example {
  readonly text: string;
  readonly sentences: readonly string[];
}

const EXAMPLES: readonly Example[] = readFileSync(
  new URL('sentence-cuts.txt', import.meta.url),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const marked = line.replaceAll('↵', '\n');
    return {
      text: marked.replaceAll('\n | ', '\n').replaceAll(' | ', ' '),
      sentences: marked.split(' | ').map((sentence) => sentence.trim()),
    };
  });

test('the table is large enough', () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(200);
});

test('a whole text is cut where the table says', () => {
  const found = EXAMPLES.map(({ text }) => splitSentences(text).map((piece) => piece.text.trim()));
  expect(found).toEqual(EXAMPLES.map(({ sentences }) => sentences));
});

interface Piece {
  readonly text: string;
  /** Milliseconds until the next piece. */
  readonly pauseMs: number;
}

interface Said {
  readonly text: string;
  readonly atMs: number;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Feeds pieces with pauses, and returns the segments with their times. */
async function feed(pieces: readonly Piece[]): Promise<readonly Said[]> {
  const clock = manualClock();
  const said: Said[] = [];
  async function* paced() {
    for (const { pauseMs, text } of pieces) {
      yield text;
      for (let left = pauseMs; left > 0;) {
        const step = Math.min(left, ...clock.running());
        clock.advance(step);
        left -= step;
        await nextTurn();
      }
    }
  }
  await feedText(
    paced(),
    {
      say: async (text) => void said.push({ text, atMs: clock.monotonic() }),
      finish: () => undefined,
    },
    { clock, cutter: createSegmentCutter('sentence'), flushAfterMs: FLUSH_AFTER_MS },
  );
  return said;
}

/** Cuts a text into pieces of one to nine characters. */
const inPieces = fc
  .tuple(
    fc.constantFrom(...EXAMPLES),
    fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 12 }),
  )
  .map(([example, sizes]) => {
    const characters = Array.from(example.text);
    const pieces: string[] = [];
    for (let at = 0, turn = 0; at < characters.length; turn += 1) {
      const size = (sizes[turn % sizes.length] ?? 0) + 1;
      pieces.push(characters.slice(at, at + size).join(''));
      at += size;
    }
    return { ...example, pieces };
  });

const RUNS = { numRuns: process.env['FOLEY_TEST_SIZE'] === 'full' ? 20_000 : 300 };
/** `example.` and later `com`, or `no.` and `..`: only a pause distinguishes that from the end of a sentence. */
const UNTOLD = /(?:\p{L}\.|[!?])$/u;

test('in pieces, with pauses shorter than --flush-after, no sentence is cut', async () => {
  const pauses = fc.array(fc.nat({ max: FLUSH_AFTER_MS - 1 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(inPieces, pauses, async ({ pieces, sentences }, gaps) => {
      const paced = pieces.map((text, index) => {
        const pause = gaps[index % gaps.length] ?? 0;
        const before = pieces.slice(0, index + 1).join('');
        const isUntold = UNTOLD.test(before) && /^\S/.test(pieces[index + 1] ?? '');
        return { text, pauseMs: isUntold ? Math.min(pause, CLEAR_END_MS - 1) : pause };
      });
      const said = await feed(paced);
      expect(said.map(({ text }) => text)).toEqual(sentences);
    }),
    RUNS,
  );
});

test('a longer pause cuts the text, and nothing is lost', async () => {
  const pauses = fc.array(fc.constantFrom(0, 50, 300, 699, 700, 5_000), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(inPieces, pauses, async ({ pieces, text }, gaps) => {
      const said = await feed(
        pieces.map((piece, index) => ({ text: piece, pauseMs: gaps[index % gaps.length] ?? 0 })),
      );
      const heard = said.map((one) => one.text).join('');
      expect(heard.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    }),
    RUNS,
  );
});

test.each([
  ['First sentence.', CLEAR_END_MS],
  ['First sentence. ', CLEAR_END_MS],
  ['First sentence! ', 0],
  ['First sentence.\n', 0],
  ['First sentence. S', 0],
  ['First\n\n', 0],
  ['In 1999. ', CLEAR_END_MS],
  ['今天。', CLEAR_END_MS],
  ['First sentence', FLUSH_AFTER_MS],
  ['First,', FLUSH_AFTER_MS],
  ['I met Dr.', FLUSH_AFTER_MS],
  ['I met Dr. ', FLUSH_AFTER_MS],
  ['By J.', FLUSH_AFTER_MS],
  ['It is 3.', FLUSH_AFTER_MS],
  ['1. ', FLUSH_AFTER_MS],
  ['At 5 p.m. ', FLUSH_AFTER_MS],
  ['Wait...', FLUSH_AFTER_MS],
  ['Wait… ', FLUSH_AFTER_MS],
  ['“Stop!”', FLUSH_AFTER_MS],
  ['“Stop!', FLUSH_AFTER_MS],
  ['He said “yes.', FLUSH_AFTER_MS],
  ['He said “yes” and left.', CLEAR_END_MS],
  ['See www.example.', FLUSH_AFTER_MS],
])('%j and silence: the first segment is sent after %i ms', async (text, afterMs) => {
  const said = await feed([{ text, pauseMs: 2_000 }]);
  expect(said[0]?.atMs).toBe(afterMs);
});
