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

/** The origin of a web page, and the host under which it requests this service. */
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
 * Creates the check of host and origin, which keeps web pages away from a service that trusts its machine.
 * The Host header shows a page that resolved its own name to this address (DNS rebinding); Origin and
 * Sec-Fetch-Site show a page of another site. Ports are not compared, so that a forwarded port works.
 */
export function createGuard({ allowHosts, allowOrigins }: GuardOptions) {
  const hosts = new Set([...LOOPBACK_HOSTS, ...allowHosts].map((host) => host.toLowerCase()));
  const isKnown = (host: string): boolean => {
    const name = HOST.exec(host)?.[1];
    return name !== undefined && hosts.has(name.toLowerCase());
  };
  return {
    /**
     * @param isExpected whether a page of another origin is allowed all the same
     * @throws ServiceError 421 for a foreign host, 403 for a foreign origin
     */
    check(request: Request, isExpected: (page: Page) => boolean): void {
      const { host } = new URL(request.url);
      const givenHost = request.headers.get('Host') ?? host;
      if (!isKnown(host) || !isKnown(givenHost)) {
        throw new ServiceError('ERR_HOST_NOT_ALLOWED', 'This service does not serve that host');
      }
      const origin = request.headers.get('Origin');
      if (origin !== null && isExpected({ origin, host: givenHost })) return;
      if (origin === null ? isFromOtherSite(request.headers) : !allowOrigins.includes(origin)) {
        throw new ServiceError(
          'ERR_ORIGIN_NOT_ALLOWED',
          'Web pages may not use this service; its keys belong on servers only',
        );
      }
    },
  };
}

/** Browsers send this header with requests that have no Origin; no other client does. */
function isFromOtherSite(headers: Headers): boolean {
  const site = headers.get('Sec-Fetch-Site');
  return site !== null && site !== 'same-origin' && site !== 'none';
}

/**
 * Returns the host names of a service that listens on `host`: that host or, for every interface, the
 * addresses of all of them. A page that resolved its own name to one of them still sends its name.
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

/** The accepted API keys, stored as digests. */
export type KeyTable = ReturnType<typeof createKeyTable>;

const BEARER = new RegExp(`^bearer +([\\x21-\\x7e]{1,${ACCEPTED_KEY_MAX_CHARACTERS}})$`, 'i');

/** Creates the table of accepted keys; the last account of a repeated key counts. */
export function createKeyTable(keys: readonly AccountKey[]) {
  const entries = keys.map(({ key, account }) => ({ digest: digest(key), account }));
  /**
   * Returns the account of a request (docs/api/authentication.md).
   * @throws ServiceError 401 when the key is missing, malformed or unknown
   */
  const accountOf = (headers: Headers): string => {
    const header = headers.get('Authorization');
    if (header === null) {
      throw unauthorized('Authorization is missing; send "Authorization: Bearer <API key>"');
    }
    const key = BEARER.exec(header)?.[1];
    if (key === undefined) {
      throw unauthorized('Authorization is not "Bearer <API key>"', 'invalid_request');
    }
    const given = digest(key);
    // Compares every entry, so that the time reveals nothing.
    const matches = entries.filter((entry) => timingSafeEqual(entry.digest, given));
    const account = matches.at(-1)?.account;
    if (account === undefined) throw unauthorized('The API key is unknown', 'invalid_token');
    return account;
  };
  return {
    accountOf,
    /** Whether a request has an accepted key. */
    has(headers: Headers): boolean {
      try {
        accountOf(headers);
        return true;
      } catch {
        return false;
      }
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
