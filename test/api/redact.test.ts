import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor, redactUrl } from '../../src/api/redact.ts';

const KEY = 'sk-a/b+c=0123456789';
const redactor = createRedactor([KEY, undefined]);

test.each([
  [`the key ${KEY} is bad`, 'the key [redacted] is bad'],
  [`?q=${encodeURIComponent(KEY)}`, '?q=[redacted]'],
  ['Authorization: Bearer other-key-here, x', 'Authorization: Bearer [redacted], x'],
  ['authorization: basic dXNlcjpwYXNz', 'authorization: basic [redacted]'],
  ['see https://docs.example/errors#a now', 'see https://docs.example/errors#a now'],
  ['get https://cdn.example/a.mp3?sig=1&exp=2 now', 'get https://cdn.example/a.mp3?[redacted] now'],
  ['at https://me:pw@host.example/x', 'at https://host.example/x'],
  ['wss://h.example/live?ticket=1', 'wss://h.example/live?[redacted]'],
  ['nothing to hide: 12 < 13', 'nothing to hide: 12 < 13'],
])('%s', (text, expected) => {
  expect(redactor.text(text)).toBe(expected);
});

test('data keeps its URLs, and loses secrets at every depth', () => {
  const url = 'https://cdn.example/a.mp3?sig=1';
  expect(redactor.data({ [KEY]: [{ audio: url, said: `Bearer ${KEY}` }], n: 1, z: null })).toEqual({
    '[redacted]': [{ audio: url, said: 'Bearer [redacted]' }],
    n: 1,
    z: null,
  });
});

const ours = ({ origin }: URL): boolean => origin === 'https://api.example';

test('our own URLs lose only queries that look like secrets', () => {
  expect(redactUrl('https://api.example/v?page=2&search=a', ours)).toBe(
    'https://api.example/v?page=2&search=a',
  );
  for (const name of ['token', 'api_key', 'X-Amz-Signature', 'sig', 'Expires', 'key', 'Policy']) {
    expect(redactUrl(`https://api.example/v?page=2&${name}=x`, ours)).toBe(
      'https://api.example/v?[redacted]',
    );
  }
  expect(redactUrl('https://cdn.example/v?page=2', ours)).toBe('https://cdn.example/v?[redacted]');
  expect(redactUrl('no address')).toBe('[redacted]');
});

test('a secret is masked everywhere', () => {
  const secret = fc
    .string({ minLength: 8, maxLength: 40 })
    .filter((text) => !'[redacted]'.includes(text));
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (key, before, after) => {
      const told = createRedactor([key]).text(`${before} ${key} ${after}`);
      expect(told.split('[redacted]').join('').includes(key)).toBe(false);
    }),
  );
});
