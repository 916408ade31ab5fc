import { expect, test } from 'vitest';
import { sizeBytes, sizeText } from '../../src/text/size.ts';

test.each([
  ['0', 0],
  ['150', 150],
  ['150B', 150],
  ['1.5kB', 1_500],
  ['500 MB', 500_000_000],
  ['2gb', 2_000_000_000],
  ['1TB', 1_000_000_000_000],
])('%s is a size', (text, bytes) => {
  expect(sizeBytes(text)).toBe(bytes);
  expect(sizeBytes(sizeText(bytes))).toBe(bytes);
});

test.each(['', 'GB', '-1', '1PB', '1 2', '1e3', 'Infinity', '9999999TB'])(
  '"%s" is not a size',
  (text) => {
    expect(sizeBytes(text)).toBeUndefined();
  },
);
