import { isPlainOverNetwork } from '../api/service-address.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';

/** An address as somebody gave it, and where: a flag, a variable, an account. */
export interface GivenUrl {
  readonly value: string;
  /** Such as `--base-url` or `FOLEY_BASE_URL`. */
  readonly source: string;
}

/**
 * The base URL of a service out of what was given.
 * @throws Failure (usage) for what is no such address, or would be called without encryption
 */
export function parseBaseUrl(given: GivenUrl): URL {
  return check(given, ['https:', 'http:'], 'https://api.example.com');
}

/** The realtime host out of what was given; `https:` is taken for `wss:`. Throws as above. */
export function parseRealtimeUrl(given: GivenUrl): URL {
  const url = check(given, ['wss:', 'ws:', 'https:', 'http:'], 'wss://realtime.example.com');
  return withWebSocket(url);
}

/** The same address with `ws:` for `http:` and `wss:` for `https:`. */
export function withWebSocket(url: URL): URL {
  return new URL(url.href.replace(/^http/, 'ws'));
}

function check({ source, value }: GivenUrl, schemes: readonly string[], example: string): URL {
  const fail = source.startsWith('--') ? usageFailure : configFailure;
  if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol)) {
    throw fail(`${source} is not an address of a service`, `It is a URL such as ${example}.`);
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    throw fail(`${source} has a user name or password in it`, 'The key is set with FOLEY_API_KEY.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw fail(`${source} has a query or fragment`, `It is a URL such as ${example}.`);
  }
  if (isPlainOverNetwork(url)) {
    const secure = url.protocol === 'http:' ? 'https://' : 'wss://';
    throw fail(
      `${source} is ${url.protocol}//${url.host}, which would be called without encryption`,
      `Use ${secure}; plain ${url.protocol.slice(0, -1)} is for this computer only.`,
    );
  }
  return url;
}
