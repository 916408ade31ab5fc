import { expect, test } from 'vitest';
import { counted } from '../../src/text/display.ts';

test.each([
  [0, '0 credits'],
  [1, '1 credit'],
  ['1', '1 credit'],
  [2, '2 credits'],
  [0.5, '0.5 credits'],
  ['11', '11 credits'],
])('%j counted', (count, text) => {
  expect(counted(count, 'credit')).toBe(text);
});
