import { createHash, timingSafeEqual } from 'node:crypto';
import { ACCEPTED_KEY_MAX_CHARACTERS } from '../../contract/values.ts';
import type { AccountKey } from '../running-service.ts';
import { ServiceError } from '../service-error.ts';

/** The API keys that are accepted, kept as digests. */
export interface KeyTable {
  /**
   * The account that a request speaks for (docs/api/authentication.md).
   * @throws ServiceError 401 when the key is missing, malformed or unknown
   */
  accountOf(headers: Headers): string;
}

const BEARER = new RegExp(`^bearer +([\\x21-\\x7e]{1,${ACCEPTED_KEY_MAX_CHARACTERS}})$`, 'i');

/** Makes the table; where a key comes twice, its last account counts. */
export function createKeyTable(keys: readonly AccountKey[]): KeyTable {
  const entries = keys.map(({ key, account }) => ({ digest: digest(key), account }));
  return {
    accountOf(headers) {
      const header = headers.get('Authorization');
      if (header === null) {
        throw unauthorized('Authorization is missing; send "Authorization: Bearer <API key>"');
      }
      const key = BEARER.exec(header)?.[1];
      if (key === undefined) {
        throw unauthorized('Authorization is not "Bearer <API key>"', 'invalid_request');
      }
      const given = digest(key);
      let account: string | undefined;
      // Every entry is compared, so that the time says nothing about which came close.
      for (const entry of entries) {
        if (timingSafeEqual(entry.digest, given)) account = entry.account;
      }
      if (account === undefined) {
        throw unauthorized('The API key is not known here', 'invalid_token');
      }
      return account;
    },
  };
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function unauthorized(message: string, error?: string): ServiceError {
  const challenge = error === undefined ? '' : `, error="${error}"`;
  return new ServiceError('ERR_UNAUTHORIZED', message, {
    headers: { 'WWW-Authenticate': `Bearer realm="foley"${challenge}` },
  });
}
