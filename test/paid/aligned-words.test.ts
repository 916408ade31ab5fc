import { expect, test } from 'vitest';
import type { AlignedWord } from '../../src/contract/speech.ts';
import { alignedSpeech } from '../../src/paid/speakers/aligned-transport.ts';
import { WholeWords } from '../../src/paid/parts/whole-audio.ts';

const word = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs });

const [a, b, c] = [word('a', 0, 400), word('b', 400, 1_000), word('c', 1_000, 1_300)];

function aligned(
  words: readonly AlignedWord[],
  { text = 'a b c', durationMs = 10_000, isComplete = true } = {},
) {
  const outcome = { isComplete, generationId: undefined, words };
  return alignedSpeech(text, outcome, durationMs);
}

test('words that the service timed within the audio are kept, and complete if it says so', () => {
  expect(aligned([a, b, c])).toMatchObject({ words: [a, b, c], isComplete: true });
  expect(aligned([a, b, c], { isComplete: false })).toMatchObject({ isComplete: false });
  expect(aligned([a, b], { durationMs: 401 })).toMatchObject({ words: [a, b], isComplete: true });
  const overlapping = [word('a', 0, 3_000), word('b', 200, 2_000)];
  expect(aligned(overlapping)).toMatchObject({ words: overlapping, isComplete: true });
  const outcome = { isComplete: true, generationId: undefined, words: [a, b] };
  expect(alignedSpeech('a b', outcome, undefined).words).toEqual([a, b]);
});

test.each([
  ['begin after the end of the audio', [a, word('b', 10_000, 10_400)], [a]],
  ['begin late', [a, word('b', 9_000, 9_400), word('c', 800, 1_300)], [a, word('c', 800, 1_300)]],
  [
    'begin early',
    [a, b, c, word('d', 100, 200), word('e', 1_400, 1_500)],
    [a, b, c, word('e', 1_400, 1_500)],
  ],
  ['go backwards', [c, b, a], [a]],
  ['all last no time', [word('a', 0, 0), word('b', 500, 500)], []],
  ['are in seconds', [word('a', 0, 0.4), word('b', 0.4, 1), word('c', 1, 1.3)], []],
  ['are missing', [], []],
])('words that %s have no times, and the others keep theirs', (_, given, kept) => {
  expect(aligned(given)).toMatchObject({ words: kept, isComplete: false });
});

test('a text without letters has no words', () => {
  expect(aligned([], { text: '…' })).toMatchObject({ words: [], isComplete: true });
});

test.each([
  [400, 400, true],
  [999, 400, true],
  [1_000, 400, false],
  [400, 1_000, false],
])('words of parts begin within their part: at %i ms and %i ms', (first, second, isComplete) => {
  const words = new WholeWords();
  words.add({ isComplete: true, words: [word('a', first, first + 100)] });
  words.add({ isComplete: true, words: [word('b', second, second + 100)] });
  expect(words.speech([0, 1_000], 2_000)).toMatchObject({ isComplete });
});
