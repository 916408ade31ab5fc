import type { LookupAddress } from 'node:dns';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import type { AddressPolicy } from './address-policy.ts';
import { addressScope } from './address-ranges.ts';

/** An answer to a GET whose body nobody has read yet. */
export interface OpenedAddress {
  readonly response: IncomingMessage;
  /** Where it redirects to, when it does, as it says that; from the address that was asked. */
  readonly location: string | undefined;
  /** Whether it was this machine that answered. */
  readonly isLocal: boolean;
}

export interface OpenOptions {
  readonly policy: AddressPolicy;
  /** Another machine redirects there. */
  readonly isSentFromElsewhere: boolean;
  readonly signal: AbortSignal;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Asks for what is at an address, at one of the network addresses that its host was found to have and to
 * be allowed to have: a name that is resolved to another one by now is not asked again.
 * @throws RefusedAddress, and whatever the resolver or the connection does
 */
export async function openAddress(
  url: URL,
  { isSentFromElsewhere, policy, signal }: OpenOptions,
): Promise<OpenedAddress> {
  const addresses = await policy.addressesOf(url.hostname, isSentFromElsewhere);
  signal.throwIfAborted();
  const response = await answerOf(url, {
    agent: false,
    headers: { Accept: '*/*', 'Accept-Encoding': 'identity', 'User-Agent': 'foley' },
    lookup: pinned(addresses),
    signal,
  });
  const { statusCode = 0, headers } = response;
  const location = REDIRECTS.has(statusCode) ? headers.location : undefined;
  const isLocal = addresses.every(({ address }) => addressScope(address) === 'loopback');
  return { response, isLocal, location };
}

function answerOf(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const get = url.protocol === 'https:' ? getSecure : getPlain;
  return new Promise((resolve, reject) => {
    get(url, options, resolve).on('error', reject);
  });
}

/** A resolver that knows one answer. */
function pinned(addresses: readonly LookupAddress[]): NonNullable<RequestOptions['lookup']> {
  return (_name, { all = false }, give) => {
    const [first] = addresses;
    if (first === undefined) give(new Error('the name has no address'), '');
    else if (all) give(null, [...addresses]);
    else give(null, first.address, first.family);
  };
}
