import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** What kind of place an address leads to. */
export type AddressScope = 'public' | 'loopback' | 'private';

/**
 * Where an address leads: `loopback` is this machine; `private` is every range that is not the public
 * internet's: private, link-local, shared, multicast, reserved and documentation ranges, and what embeds
 * an address of IPv4 that leads there. What is no address is private too.
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

/** The eight groups of an address of IPv6 that is one. */
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

/**
 * The address of IPv4 within one of IPv6, where routers or the system would go there: mapped, compatible,
 * translated (64:ff9b::/96, 64:ff9b:1::/48) and 6to4 (2002::/16).
 */
function embeddedV4(groups: readonly number[]): string | undefined {
  const [a = 0, b = 0, c = 0, , , f = 0, g = 0, h = 0] = groups;
  if (a === 0x2002) return dots(b, c);
  if (a === 0x64 && b === 0xff9b) return dots(g, h);
  const isZeroTo = (end: number): boolean => groups.slice(0, end).every((group) => group === 0);
  if (isZeroTo(5) && f === 0xffff) return dots(g, h);
  // `::` and `::1` are addresses of their own.
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

/** What IANA reserves of IPv4, loopback aside. */
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

/** The part of IPv6 that is given to the public internet, and what is reserved within it. */
const GLOBAL_V6 = listOf('ipv6', [['2000::', 3]]);
const RESERVED_V6 = listOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
]);
