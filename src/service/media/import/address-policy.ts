import type { LookupAddress } from 'node:dns';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import { isIP, BlockList, isIPv4, isIPv6 } from 'node:net';

export interface AddressPolicy {
  /**
   * Resolves a host name and checks its addresses. The caller must connect to one of the returned addresses, because
   * resolving the name again could return other addresses.
   * @param host host of a URL; an IPv6 address is in brackets
   * @param isSentFromElsewhere true if a server on another machine redirected to the host. Addresses of this machine
   * are then refused, except for a host in `allowHosts`.
   * @throws RefusedAddress if an address is in a forbidden network
   * @throws the resolver's error for an unknown name
   */
  resolveHost(host: string, isSentFromElsewhere?: boolean): Promise<readonly LookupAddress[]>;
}

/** Thrown when a host is in a network from which downloads are forbidden. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

interface AddressPolicyOptions {
  /** Host names and IP addresses from which downloads are allowed even in private networks. */
  readonly allowHosts: readonly string[];
  /** True to allow downloads from loopback; set only if the service itself listens on loopback. */
  readonly allowsLoopback: boolean;
  readonly resolve: (name: string) => Promise<readonly LookupAddress[]>;
}

/**
 * Creates the policy that decides from which addresses the service downloads. The policy prevents server-side request
 * forgery. It allows public addresses, the hosts in `allowHosts`, and loopback if `allowsLoopback` is set.
 */
export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const { allowsLoopback, resolve } = options;
  const named = new Set(options.allowHosts.map((host) => bare(host)));
  return {
    async resolveHost(host, isSentFromElsewhere = false) {
      const name = bare(host);
      const family = isIP(name);
      const addresses = family === 0 ? await resolve(name) : [{ address: name, family }];
      if (named.has(name)) return addresses;
      const maySelf = allowsLoopback && !isSentFromElsewhere;
      const refused = addresses.find(({ address }) => !mayBeAsked(address, maySelf));
      if (refused === undefined) return addresses;
      const scope =
        addressScope(refused.address) === 'loopback' ? 'this machine' : 'a private network';
      throw new RefusedAddress(
        `leads to ${scope}, from which downloads are forbidden; allow a host with --allow-host`,
      );
    },
  };
}

function mayBeAsked(address: string, allowsLoopback: boolean): boolean {
  const scope = addressScope(address);
  return scope === 'public' || (scope === 'loopback' && allowsLoopback);
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

interface OpenedAddress {
  readonly response: IncomingMessage;
  /** Target URL of a redirect, as the server sent it; undefined if the response is no redirect. */
  readonly location: string | undefined;
  /** True if this machine sent the response. */
  readonly isLocal: boolean;
}

interface OpenOptions {
  readonly policy: AddressPolicy;
  /** True if another machine redirected the request to this URL. */
  readonly isSentFromElsewhere: boolean;
  readonly signal: AbortSignal;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a GET request if the policy allows the addresses of the host. Resolves the host name only once.
 * @throws RefusedAddress if the policy forbids an address
 * @throws errors of the resolver and the connection
 */
export async function openAddress(
  url: URL,
  { isSentFromElsewhere, policy, signal }: OpenOptions,
): Promise<OpenedAddress> {
  const addresses = await policy.resolveHost(url.hostname, isSentFromElsewhere);
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

function pinned(addresses: readonly LookupAddress[]): NonNullable<RequestOptions['lookup']> {
  return (_name, { all = false }, give) => {
    const [first] = addresses;
    if (first === undefined) give(new Error('the host name has no address'), '');
    else if (all) give(null, [...addresses]);
    else give(null, first.address, first.family);
  };
}

type AddressScope = 'public' | 'loopback' | 'private';

/**
 * Classifies an address: `loopback` for this machine, `public` for the internet, `private` for everything else. An IPv6
 * address that embeds an IPv4 address is classified as the IPv4 address. A text that is not an address is `private`.
 */
export function addressScope(address: string): AddressScope {
  if (isIPv4(address)) return scopeV4(address);
  if (!isIPv6(address)) return 'private';
  const groups = groupsOf(address);
  const embedded = embeddedV4(groups);
  if (embedded !== undefined) return scopeV4(embedded);
  if (groups.slice(0, 7).every((group) => group === 0) && groups[7] === 1) return 'loopback';
  return GLOBAL_V6.check(address, 'ipv6') && !RESERVED_V6.check(address, 'ipv6')
    ? 'public'
    : 'private';
}

function scopeV4(address: string): AddressScope {
  if (LOOPBACK_V4.check(address)) return 'loopback';
  return RESERVED_V4.check(address) ? 'private' : 'public';
}

// The address is valid.
function groupsOf(address: string): readonly number[] {
  const [plain = ''] = address.split('%');
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain);
  const hex =
    dotted === null
      ? plain
      : `${dotted[1]}${pair(dotted[2], dotted[3])}:${pair(dotted[4], dotted[5])}`;
  const [head = '', tail] = hex.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap =
    tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...gap, ...last].map((group) => Number.parseInt(group, 16));
}

function pair(high = '0', low = '0'): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}

// Mapped, compatible, translated (64:ff9b::/96, 64:ff9b:1::/48) or 6to4 (2002::/16): packets go to the embedded IPv4
// address.
function embeddedV4(groups: readonly number[]): string | undefined {
  const [a = 0, b = 0, c = 0, , , f = 0, g = 0, h = 0] = groups;
  if (a === 0x2002) return dots(b, c);
  if (a === 0x64 && b === 0xff9b) return dots(g, h);
  const isZeroTo = (end: number): boolean => groups.slice(0, end).every((group) => group === 0);
  if (isZeroTo(5) && f === 0xffff) return dots(g, h);
  // `::` and `::1` embed no IPv4 address.
  return isZeroTo(6) && g !== 0 ? dots(g, h) : undefined;
}

function dots(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function listOf(
  family: 'ipv4' | 'ipv6',
  ranges: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of ranges) list.addSubnet(net, prefix, family);
  return list;
}

const LOOPBACK_V4 = listOf('ipv4', [['127.0.0.0', 8]]);

// Reserved by IANA, except loopback.
const RESERVED_V4 = listOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);

// The public IPv6 addresses, from which `RESERVED_V6` is subtracted.
const GLOBAL_V6 = listOf('ipv6', [['2000::', 3]]);
const RESERVED_V6 = listOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
]);
