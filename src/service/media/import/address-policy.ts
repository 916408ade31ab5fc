import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { addressScope } from './address-ranges.ts';

/** Which addresses a service may fetch from (contract, section 9). */
export interface AddressPolicy {
  /**
   * The addresses of a host, all of which may be asked; a connection goes to one of these and to no
   * other, whatever its name is resolved to by then.
   * @param host of a URL, an address of IPv6 within brackets
   * @param isSentFromElsewhere another machine redirects there: that is no reason to ask this one
   * @throws RefusedAddress; the resolver's error for a name that is none
   */
  addressesOf(host: string, isSentFromElsewhere?: boolean): Promise<readonly LookupAddress[]>;
}

/** A host that leads where this service does not go. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

export interface AddressPolicyOptions {
  /** Names and addresses that may lead anywhere. */
  readonly allowHosts: readonly string[];
  /** Whether this machine may be asked: only where nobody else can ask this service. */
  readonly allowsLoopback: boolean;
  /** Every address of a name. */
  readonly resolve: (name: string) => Promise<readonly LookupAddress[]>;
}

/**
 * Keeps a service that fetches what it is told to from reaching into networks that the one who tells it
 * could not reach: loopback only where it is allowed, private ranges only for hosts that were named.
 */
export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const { allowsLoopback, resolve } = options;
  const named = new Set(options.allowHosts.map((host) => bare(host)));
  return {
    async addressesOf(host, isSentFromElsewhere = false) {
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
        `leads to ${scope}, which this service does not fetch from; --allow-host names hosts that it may`,
      );
    },
  };
}

function mayBeAsked(address: string, allowsLoopback: boolean): boolean {
  const scope = addressScope(address);
  return scope === 'public' || (scope === 'loopback' && allowsLoopback);
}

/** A host as names are compared: in lower case, without brackets and the dot of the root. */
function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
