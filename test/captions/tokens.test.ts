import { expect, test } from 'vitest';
import { tokenize } from '../../src/captions/tokens.ts';

const SENTENCES = [
  '看守人又爬上楼梯，因为灯亮了，而且没有人知道为什么。',
  '彼女は「もう帰りません。」と言いましたが、誰も答えませんでした。',
  '二百一十七级台阶𠮷，“这是谁写的？”她问道。',
  'ผมชื่อสมชายไม่ไปแล้ว“เขาพูด”และเดินออกไป。',
];

test('a long text without spaces has the words of its sentences', () => {
  const all = Array.from({ length: 800 }, (_, index) => SENTENCES[(index * 7) % 4] ?? '');
  expect(wordsIn(all.join(''))).toEqual(all.flatMap((sentence) => wordsIn(sentence)));
});

test('a long text without spaces and punctuation is split between its words', () => {
  const text = '看守人又爬上楼梯因为灯亮了而且没有人知道为什么'.repeat(200);
  const tokens = tokenize(text);
  expect(tokens.map((token) => token.text).join('')).toBe(text);
  const [longest = 0] = tokens.map((token) => token.text.length).toSorted((a, b) => b - a);
  expect(longest).toBeLessThanOrEqual(4);
  expect(tokenize('a'.repeat(5_000) + '漢').map((token) => token.text.length)).toEqual([5_000, 1]);
});

function wordsIn(text: string): string[] {
  return tokenize(text).map((token) => token.text);
}
