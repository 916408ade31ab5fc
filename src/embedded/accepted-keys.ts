import { ACCEPTED_KEY_MAX_CHARACTERS } from '../contract/values.ts';
import { usageFailure } from '../errors/failure.ts';
import type { AccountKey } from '../service/running-service.ts';
import { counted } from '../text/display.ts';

const FORM = 'Each line is an API key, or an API key, a space and its account; # begins a comment.';
/** The account name for API keys that are listed without an account name. */
export const DEFAULT_ACCOUNT = 'local';

/**
 * Parses a file of API keys. Error messages give the number of a line but never its text, because any word may be a
 * key.
 * @param name the name of the file in error messages
 * @throws Failure of kind `usage` if a line is invalid or the file contains no API key
 */
export function parseAcceptedKeys(text: string, name: string): readonly AccountKey[] {
  const lineOfKey = new Map<string, number>();
  const keys: AccountKey[] = [];
  for (const [index, line] of text
    .replace(BYTE_ORDER_MARK, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (/^[ \t]*(#|$)/.test(line)) continue;
    const number = index + 1;
    const accepted = parseLine(line, `${name}: line ${number}`);
    const before = lineOfKey.get(accepted.key);
    if (before !== undefined) {
      throw usageFailure(`${name}: line ${number} repeats the API key of line ${before}`, FORM);
    }
    lineOfKey.set(accepted.key, number);
    keys.push(accepted);
  }
  if (keys.length === 0) throw usageFailure(`${name} contains no API key`, FORM);
  return keys;
}

// In UTF-8, decoded as Latin-1.
const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/;
const ACCOUNT = /^[\w.@-]{1,64}$/;

function parseLine(line: string, name: string): AccountKey {
  const [key = '', account = DEFAULT_ACCOUNT, ...more] = line.trim().split(/[ \t]+/);
  if (more.length > 0)
    throw usageFailure(`${name} has more than an API key and an account name`, FORM);
  return checkAcceptedKey({ key, account }, name);
}

/**
 * Checks the format of an API key and of its account name.
 * @param name how error messages refer to the key, since they never contain the key itself
 * @throws Failure of kind `usage` if the API key or the account name is invalid
 */
export function checkAcceptedKey({ key, account }: AccountKey, name: string): AccountKey {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw usageFailure(`${name} has an API key with characters other than visible ASCII`, FORM);
  }
  if (key.length > ACCEPTED_KEY_MAX_CHARACTERS) {
    const length = counted(key.length, 'character');
    throw usageFailure(
      `${name} has an API key of ${length}; at most ${ACCEPTED_KEY_MAX_CHARACTERS} are allowed`,
      FORM,
    );
  }
  if (!ACCOUNT.test(account)) {
    throw usageFailure(
      `${name} has an invalid account name; use 1 to 64 letters, digits, or . _ @ -`,
      FORM,
    );
  }
  return { key, account };
}
