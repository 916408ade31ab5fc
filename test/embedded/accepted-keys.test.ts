import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAcceptedKeys } from '../../src/embedded/accepted-keys.ts';
import { Failure } from '../../src/errors/failure.ts';

const NAME = '--accept-keys-file keys.txt';

function failureOf(text: string): Failure {
  try {
    parseAcceptedKeys(text, NAME);
  } catch (error) {
    if (error instanceof Failure) return error;
  }
  throw new Error('it was not refused');
}

describe('a keys file', () => {
  it('contains a key and its account per line, and comments', () => {
    const text =
      '\u00ef\u00bb\u00bf# ours\r\nkey-a alice\r\n\r\n  key-b\tbob@work \n\t# more\nkey-c\nkey-d alice';
    expect(parseAcceptedKeys(text, NAME)).toEqual([
      { key: 'key-a', account: 'alice' },
      { key: 'key-b', account: 'bob@work' },
      { key: 'key-c', account: 'local' },
      { key: 'key-d', account: 'alice' },
    ]);
  });

  it.each([
    ['', /contains no API key/],
    ['# nothing\n\n', /contains no API key/],
    ['ok\nsecret-key alice bob', /line 2 has more than an API key and an account name/],
    ['ok\n\nse\u00e9cret-key', /line 3 has an API key with characters other than visible ASCII/],
    [`\n${'s'.repeat(513)}`, /line 2 has an API key of 513 characters; at most 512 are allowed/],
    ['alice/x secret-key!', /line 1 has an invalid account name/],
    ['secret-key a\nother b\nsecret-key b', /line 3 repeats the API key of line 1/],
  ])('is refused with the line number: %j', (text, problem) => {
    const { message, code, hint } = failureOf(text);
    expect(message).toMatch(problem);
    expect(message.startsWith(NAME)).toBe(true);
    expect(code).toBe('usage');
    expect(`${message}${hint}`).not.toMatch(/secret/);
  });

  it('never appears in messages', () => {
    const word = fc.string({ minLength: 8, maxLength: 20 }).filter((text) => !NAME.includes(text));
    fc.assert(
      fc.property(fc.array(word, { minLength: 3, maxLength: 6 }), (words) => {
        const { message, hint } = failureOf(`ok\n${['x', ...words].join(' q ')} \u0000`);
        for (const secret of words) expect(`${message} ${hint}`).not.toContain(secret);
      }),
    );
  });
});
