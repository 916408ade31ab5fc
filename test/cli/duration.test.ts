import { expect, test } from 'vitest';
import { parseDuration, parseTimeLimit } from '../../src/cli/flags/values.ts';
import { Failure } from '../../src/errors/failure.ts';

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['1.5', 1_500],
  ['0', 0],
])('%s is %d ms', (given, expected) => {
  expect(parseDuration('--idle-timeout', given)).toBe(expected);
});

test.each(['', '-1', '5 minutes', '1d', 'soon', '1e3s', 'Infinity'])(
  'refuses "%s" and names the flag',
  (given) => {
    expect(() => parseDuration('--idle-timeout', given)).toThrow(Failure);
    expect(() => parseDuration('--idle-timeout', given)).toThrow(/--idle-timeout/);
  },
);

test('a time limit of 0 is refused', () => {
  expect(parseTimeLimit('--idle-timeout', '1ms')).toBe(1);
  expect(() => parseTimeLimit('--idle-timeout', '0')).toThrow(/--idle-timeout is "0"/);
});
