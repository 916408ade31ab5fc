import { expect, test } from 'vitest';
import { describeUnspoken, leftOut, unspokenWords } from '../../src/paid/unspoken.ts';

test('the words of ranges are those of the text, counted in code points', () => {
  const text = '𠀀 Hello 你好 world 再见';
  const ranges = [
    { start: 0, end: 1 },
    { start: 8, end: 10 },
    { start: 17, end: 19 },
  ];
  expect(unspokenWords(text, ranges).map((word) => word.text)).toEqual(['𠀀', '你好', '再见']);
  expect(unspokenWords(text)).toEqual([]);
});

test('ranges beyond the text have no words', () => {
  expect(unspokenWords('Hello', [{ start: 0, end: 6 }])).toEqual([]);
});

test('a line names at most five words, shortened and safe to print', () => {
  const words = Array.from({ length: 7 }, (_, at) => ({
    start: at * 2,
    end: at * 2 + 1,
    text: '你',
  }));
  const line = describeUnspoken(words, { voice: 'v\u001b[31m', where: 'job 1' });
  expect(line).toMatch(/^foley: job 1: the voice v\\x1b\[31m cannot speak 7 words/);
  expect(line).toContain('"你" (character 9), 2 more. Choose a voice');
  const long = [{ start: 3, end: 103, text: '字'.repeat(100) }];
  expect(describeUnspoken(long, { isBrief: true })).toBe(
    `the voice cannot speak 1 word, which the audio leaves out: "${'字'.repeat(29)}…" (character 4)`,
  );
});

test('positions of a text that is not at hand count from 1 and include the end', () => {
  const ranges = Array.from({ length: 6 }, (_, at) => ({ start: at * 9 + 6, end: at * 9 + 8 }));
  expect(leftOut(ranges.slice(0, 1))).toBe('the voice cannot speak characters 7-8 of the text');
  expect(leftOut(ranges)).toMatch(/7-8, 16-17, .*, … of the text$/);
  expect(leftOut([{ start: 0, end: 1 }])).toBe('the voice cannot speak characters 1 of the text');
});
