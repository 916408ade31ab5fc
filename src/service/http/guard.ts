import { isIPv6 } from 'node:net';
import type { networkInterfaces } from 'node:os';
import { ServiceError } from '../service-error.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import { ACCEPTED_KEY_MAX_CHARACTERS } from '../../contract/values.ts';
import type { AccountKey } from '../running-service.ts';

/** A request that is being handled. */
export interface Arrival {
  readonly request: Request;
  readonly requestId: string;
  /** Account of the key, once the key was checked. */
  account?: string;
}

/** Who may be addressed and who may ask. */
interface Guard {
  /**
   * Refuses a request before anything is done for it.
   * @param isExpected whether a page of another origin may ask all the same
   * @throws ServiceError 421 for a foreign host, 403 for a foreign origin
   */
  check(request: Request, isExpected?: (page: Page) => boolean): void;
}

/** Where a page comes from, and what it takes this service to be called. */
export interface Page {
  readonly origin: string;
  readonly host: string;
}

export interface GuardOptions {
  /** Host names besides the loopback ones. */
  readonly allowHosts: readonly string[];
  /** Origins such as `https://studio.example`; none by default. */
  readonly allowOrigins: readonly string[];
}

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[^\s:[\]@/?#]+)(?::\d{1,5})?$/i;

/**
 * Keeps web pages away from a service that trusts its own machine: a page that resolved its name to
 * this address is betrayed by the Host header, one on another site by Origin and Sec-Fetch-Site. The
 * port is not compared, so that a forwarded port works.
 */
export function createGuard({ allowHosts, allowOrigins }: GuardOptions): Guard {
  const hosts = new Set([...LOOPBACK_HOSTS, ...allowHosts].map((host) => host.toLowerCase()));
  const origins = new Set(allowOrigins);
  const isKnown = (host: string): boolean => {
    const name = HOST.exec(host)?.[1];
    return name !== undefined && hosts.has(name.toLowerCase());
  };
  return {
    check(request, isExpected = () => false) {
      const { host } = new URL(request.url);
      const givenHost = request.headers.get('Host') ?? host;
      if (!isKnown(host) || !isKnown(givenHost)) {
        throw new ServiceError('ERR_HOST_NOT_ALLOWED', 'This service does not answer to that host');
      }
      const origin = request.headers.get('Origin');
      if (origin !== null && isExpected({ origin, host: givenHost })) return;
      if (origin === null ? isFromAnotherSite(request.headers) : !origins.has(origin)) {
        throw new ServiceError(
          'ERR_ORIGIN_NOT_ALLOWED',
          'Web pages may not use this service; its keys belong on servers only',
        );
      }
    },
  };
}

/** Browsers say so on requests that carry no Origin; nothing else sends this header. */
function isFromAnotherSite(headers: Headers): boolean {
  const site = headers.get('Sec-Fetch-Site');
  return site !== null && site !== 'same-origin' && site !== 'none';
}

/**
 * Host names under which a service is meant that listens on `host`: that one or, where it is every
 * interface, the addresses of all of them, as a Host header writes them. A page that resolved a name of
 * its own to one of them still sends its name.
 */
export function ownHosts(
  host: string,
  interfaces: () => ReturnType<typeof networkInterfaces>,
): readonly string[] {
  const addresses = EVERY_INTERFACE.has(host)
    ? Object.values(interfaces()).flatMap((all = []) => all.map(({ address }) => address))
    : [host];
  return addresses.map((address) => (isIPv6(address) ? `[${address}]` : address));
}

const EVERY_INTERFACE = new Set(['0.0.0.0', '::']);

/** The API keys that are accepted, kept as digests. */
export interface KeyTable {
  /**
   * The account that a request speaks for (docs/api/authentication.md).
   * @throws ServiceError 401 when the key is missing, malformed or unknown
   */
  accountOf(headers: Headers): string;
  /** Whether a request has an accepted key. */
  has(headers: Headers): boolean;
}

const BEARER = new RegExp(`^bearer +([\\x21-\\x7e]{1,${ACCEPTED_KEY_MAX_CHARACTERS}})$`, 'i');

/** Makes the table; where a key comes twice, its last account counts. */
export function createKeyTable(keys: readonly AccountKey[]): KeyTable {
  const entries = keys.map(({ key, account }) => ({ digest: digest(key), account }));
  const table: KeyTable = {
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
        throw unauthorized('The API key is unknown', 'invalid_token');
      }
      return account;
    },
    has(headers) {
      try {
        table.accountOf(headers);
        return true;
      } catch {
        return false;
      }
    },
  };
  return table;
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
