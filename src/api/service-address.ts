import { usageFailure } from '../errors/failure.ts';

/** Which service is called, and the one key that may be sent to it. */
export interface ServiceAddress {
  readonly kind: 'embedded' | 'hosted';
  /** Begins every path of the spec; may itself have a path. */
  readonly baseUrl: URL;
  /** The realtime host, with `ws:` or `wss:`. */
  readonly realtimeUrl: URL;
  /** Sent to the origins of the two addresses and nowhere else. */
  readonly apiKey: string | undefined;
}

/** The origins (with `http:` or `https:`) that the key of the address belongs to. */
export function keyOrigins(address: ServiceAddress): ReadonlySet<string> {
  const known = originsOf.get(address);
  if (known !== undefined) return known;
  const origins = new Set([address.baseUrl.origin, withHttp(address.realtimeUrl).origin]);
  originsOf.set(address, origins);
  return origins;
}

/** It is asked several times for each request, and an address never changes. */
const originsOf = new WeakMap<ServiceAddress, ReadonlySet<string>>();

/** The same address with `http:` for `ws:` and `https:` for `wss:`. */
export function withHttp(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'));
}

/** Whether a URL's host can only be this computer: no name but `localhost` is believed. */
export function isLoopback(url: URL): boolean {
  const { hostname } = url;
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether bytes to this URL travel where others could read them. */
export function isPlainOverNetwork(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'ws:') && !isLoopback(url);
}

/**
 * Refuses plain `http:` and `ws:` to anything but this computer (contract, section 1).
 * @throws Failure (usage)
 */
export function requireProtected(url: URL): void {
  if (!isPlainOverNetwork(url)) return;
  const secure = url.protocol === 'http:' ? 'https' : 'wss';
  throw usageFailure(
    `${url.protocol}//${url.host} would be called without encryption`,
    `Use ${secure}://${url.host}; plain ${url.protocol.slice(0, -1)} is for this computer only.`,
  );
}
