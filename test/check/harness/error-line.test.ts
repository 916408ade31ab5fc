import { expect, test } from 'vitest';
import { parseErrorLine } from '../../harness/error-line.ts';
import { parseJsonDocument, parseJsonLines } from '../../harness/json-lines.ts';

const error = {
  code: 'ERR_VOICE_NOT_FOUND',
  message: 'There is no such voice.',
  exitCode: 20,
  status: 404,
  requestId: 'r-1',
  hint: null,
  billed: 'no',
  retryAfter: null,
  details: null,
};

const lineOf = (value: unknown) => `foley: a warning\n${JSON.stringify(value)}\n`;

test('the last line of stderr is read', () => {
  expect(parseErrorLine(lineOf({ error }))).toStrictEqual(error);
});

const { details: _, ...withoutDetails } = error;

test.each([
  ['a field is missing', { error: withoutDetails }],
  ['there is a further field', { error: { ...error, stack: 'at …' } }],
  ['there is something beside the error', { error, ok: false }],
  ['the code is empty', { error: { ...error, code: '' } }],
  ['the message is white space', { error: { ...error, message: ' ' } }],
  ['the exit code is not of the table', { error: { ...error, exitCode: 5 } }],
  ['the exit code says success', { error: { ...error, exitCode: 0 } }],
  ['billed is a boolean', { error: { ...error, billed: false } }],
  ['the wait is words', { error: { ...error, retryAfter: '5 s' } }],
  ['details are words', { error: { ...error, details: 'none' } }],
])('it is refused when %s', (_reason, value) => {
  expect(() => parseErrorLine(lineOf(value))).toThrow();
});

test('a line after it, or no end of line, is refused', () => {
  expect(() => parseErrorLine(`${lineOf({ error })}more\n`)).toThrow();
  expect(() => parseErrorLine(lineOf({ error }).trimEnd())).toThrow();
});

test('JSON lines are read, and a bad one is named', () => {
  expect(parseJsonLines('')).toStrictEqual([]);
  expect(parseJsonLines('{"a":1}\n[2]\n')).toStrictEqual([{ a: 1 }, [2]]);
  expect(() => parseJsonLines('{}\n{]\n')).toThrow(/Line 2/);
  expect(() => parseJsonLines('{}\n\n{}\n')).toThrow(/Line 2/);
  expect(() => parseJsonLines('{}')).toThrow(/not ended/);
});

test('a document stands alone', () => {
  expect(parseJsonDocument(Buffer.from('{"a":\n1}\n'))).toStrictEqual({ a: 1 });
  expect(() => parseJsonDocument(Buffer.from('{}\n{}\n'))).toThrow();
  expect(() => parseJsonDocument(Buffer.from('{}'))).toThrow(/newline/);
});
