import type { networkInterfaces } from 'node:os';
import { ServiceError } from '../service-error.ts';
import { createHash } from 'node:crypto';
import { ACCEPTED_KEY_MAX_CHARACTERS } from '../../contract/values.ts';
import type { AccountKey } from '../running-service.ts';

/** A request that is being handled, with the data collected so far. */
export interface IncomingRequest {
  readonly request: Request;
  readonly requestId: string;
  /** IP address of the client; undefined for a request that no socket received. */
  readonly remoteAddress?: string | undefined;
  /** Id of the account; set when the API key has been checked. */
  account?: string;
}

/** The origin of a web page, and the host to which the page sends requests. */
export interface PageOrigin {
  readonly origin: string;
  readonly host: string;
}

export interface GuardOptions {
  /** Allowed host names, in addition to loopback names such as `localhost`. */
  readonly allowHosts: readonly string[];
  /** Allowed origins of web pages, such as `https://studio.example`. */
  readonly allowOrigins: readonly string[];
}

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[^\s:[\]@/?#]+)(?::\d{1,5})?$/i;

/**
 * Creates the check of host and origin, which protects a local service from malicious web pages. `Host` reveals DNS
 * rebinding, in which the name of another site resolves to this machine. `Origin` and `Sec-Fetch-Site` reveal requests
 * from the pages of other sites. The check ignores ports, because they may be forwarded.
 */
export function createGuard({ allowHosts, allowOrigins }: GuardOptions) {
  const hosts = new Set([...LOOPBACK_HOSTS, ...allowHosts].map((host) => host.toLowerCase()));
  const isKnown = (host: string): boolean => {
    const name = HOST.exec(host)?.[1];
    return name !== undefined && hosts.has(name.toLowerCase());
  };
  return {
    /**
     * Refuses a request with a forbidden host or origin.
     * @param isExpected returns true for a web page that may send the request although its origin is not in
     * `allowOrigins`
     * @throws ServiceError 421 for the host, 403 for the origin
     */
    check(request: Request, isExpected: (page: PageOrigin) => boolean): void {
      const { host } = new URL(request.url);
      const givenHost = request.headers.get('Host') ?? host;
      if (!isKnown(host) || !isKnown(givenHost)) {
        throw new ServiceError(
          'ERR_HOST_NOT_ALLOWED',
          'This host name is not allowed; see --allow-host',
        );
      }
      const origin = request.headers.get('Origin');
      if (origin !== null && isExpected({ origin, host: givenHost })) return;
      if (origin === null ? isFromOtherSite(request.headers) : !allowOrigins.includes(origin)) {
        throw new ServiceError(
          'ERR_ORIGIN_NOT_ALLOWED',
          'This web page may not use the service; send requests from a server',
        );
      }
    },
  };
}

/**
 * Returns true if a WebSocket handshake has an API key, and the service's own origin: some WebSocket libraries send the
 * address that they connect to as `Origin`. A web page cannot send an API key in a handshake.
 */
export function isFromLibrary(headers: Headers, { host, origin }: PageOrigin): boolean {
  const own = [`http://${host}`, `https://${host}`].map((one) => one.toLowerCase());
  return headers.has('Authorization') && own.includes(origin.toLowerCase());
}

// Browsers send Sec-Fetch-Site even without Origin.
function isFromOtherSite(headers: Headers): boolean {
  const site = headers.get('Sec-Fetch-Site');
  return site !== null && site !== 'same-origin' && site !== 'none';
}

/**
 * Returns the host names of a service that listens on `host`. For a wildcard address, returns the addresses of all
 * network interfaces. These names are safe to allow, because a DNS rebinding attack sends another host name.
 */
export function ownHosts(
  host: string,
  interfaces: () => ReturnType<typeof networkInterfaces>,
): readonly string[] {
  const addresses = EVERY_INTERFACE.has(host)
    ? Object.values(interfaces()).flatMap((all = []) => all.map(({ address }) => address))
    : [host];
  // Only IPv6 addresses contain a colon; `isIPv6` would compile a long expression at every start.
  return addresses.map((address) => (address.includes(':') ? `[${address}]` : address));
}

const EVERY_INTERFACE = new Set(['0.0.0.0', '::']);

export type KeyTable = ReturnType<typeof createKeyTable>;

const BEARER = new RegExp(`^bearer +([\\x21-\\x7e]{1,${ACCEPTED_KEY_MAX_CHARACTERS}})$`, 'i');

/** Creates the table of accepted API keys, stored as hashes. If a key is listed twice, the last entry counts. */
export function createKeyTable(keys: readonly AccountKey[]) {
  const accounts = new Map(keys.map(({ key, account }) => [digest(key), account]));
  /** Returns the account of a request. @throws ServiceError 401 for a missing or unknown API key */
  const accountOf = (headers: Headers): string => {
    const header = headers.get('Authorization');
    if (header === null) {
      throw unauthorized('Authorization is missing; send "Authorization: Bearer <API key>"');
    }
    const key = BEARER.exec(header)?.[1];
    if (key === undefined) {
      throw unauthorized('Authorization is not "Bearer <API key>"', 'invalid_request');
    }
    // The duration of the look-up depends only on the hash, from which nothing about a key follows.
    const account = accounts.get(digest(key));
    if (account === undefined) throw unauthorized('The API key is unknown', 'invalid_token');
    return account;
  };
  return {
    accountOf,
    /** Returns whether a request has an accepted API key. */
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

function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}

function unauthorized(message: string, error?: string): ServiceError {
  const challenge = error === undefined ? '' : `, error="${error}"`;
  return new ServiceError('ERR_UNAUTHORIZED', message, {
    headers: { 'WWW-Authenticate': `Bearer realm="foley"${challenge}` },
  });
}
