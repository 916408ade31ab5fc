import { isIPv6 } from 'node:net';
import type { networkInterfaces } from 'node:os';

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
