import { Failure } from '../errors/failure.ts';

/** Far above any real key, and below what servers take as a header. */
const LONGEST_KEY = 4_096;

/**
 * The API key of what was typed, read or configured: one trailing line end is dropped; what cannot
 * be sent in a header is refused here, since an HTTP library would print it. The value is never told.
 * @param source where it came from, such as `FOLEY_API_KEY`
 * @throws Failure (auth)
 */
export function checkApiKey(given: string, source: string): string {
  const key = given.replace(/\r?\n$/, '');
  if (key.trim() === '') {
    throw keyFailure(`${source} is empty`, 'Set it to an API key, or remove it.');
  }
  const fault = /[^\x21-\x7e]/u.exec(key);
  if (fault !== null) {
    const position = fault.index + 1;
    throw keyFailure(
      `${source} has a character that no API key can have, at position ${position}`,
      'Copy the key again, without quotes, spaces or line ends.',
    );
  }
  if (key.length > LONGEST_KEY) {
    throw keyFailure(`${source} is too long to be an API key`, 'Is it the right file or variable?');
  }
  return key;
}

export function keyFailure(message: string, hint: string): Failure {
  return new Failure(message, { code: 'no_key', exit: 'auth', hint });
}
