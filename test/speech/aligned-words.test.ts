import { expect, test } from 'vitest';
import { alignedSpeech } from '../../src/speech/aligned-transport.ts';
import { WholeWords } from '../../src/speech/long-text/whole-audio.ts';

const word = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs });
const complete = { isComplete: true, generationId: undefined };

test.each([
  [[word('a', 0, 400), word('b', 400, 1_000)], true],
  [[word('a', 0, 400), word('b', 999, 1_300)], true],
  [[word('a', 0, 400), word('b', 1_000, 1_400)], false],
  [[word('a', 2_000, 2_400), word('b', 500, 900)], false],
  [[], true],
])('word times are complete if all words begin within the audio: %j', (words, isComplete) => {
  const outcome = { ...complete, words };
  expect(alignedSpeech({ outcome }, { durationMs: 1_000 })).toMatchObject({ isComplete, words });
  const partial = { ...outcome, isComplete: false };
  expect(alignedSpeech({ outcome: partial }, { durationMs: 1_000 }).isComplete).toBe(false);
  expect(alignedSpeech({ outcome }, { durationMs: undefined }).isComplete).toBe(true);
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
