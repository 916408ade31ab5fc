import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createAddressPolicy,
  RefusedAddress,
  addressScope,
} from '../../../src/service/media/import/address-policy.ts';

describe('where an address leads', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.3.4', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['0.0.0.0', 'private'],
    ['::', 'private'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['169.254.169.254', 'private'],
    ['198.18.0.1', 'private'],
    ['224.0.0.1', 'private'],
    ['255.255.255.255', 'private'],
    ['fe80::1', 'private'],
    ['fe80::1%eth0', 'private'],
    ['fc00::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['ff02::1', 'private'],
    ['2001:db8::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['2002:0a00:0001::1', 'private'],
    ['::10.0.0.1', 'private'],
    ['no address', 'private'],
    ['1.1.1.1', 'public'],
    ['172.15.0.1', 'public'],
    ['172.32.0.1', 'public'],
    ['100.128.0.1', 'public'],
    ['2606:4700::1111', 'public'],
    ['::ffff:1.1.1.1', 'public'],
    ['64:ff9b::1.1.1.1', 'public'],
  ])('%s: %s', (address, scope) => {
    expect(addressScope(address)).toBe(scope);
  });

  test('an address of IPv4 leads nowhere else when it is written within one of IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressScope(`::ffff:${address}`)).toBe(addressScope(address));
        expect(addressScope(`64:ff9b::${address}`)).toBe(addressScope(address));
      }),
    );
  });
});

describe('which hosts may be asked', () => {
  const names: Readonly<Record<string, readonly string[]>> = {
    'public.example': ['1.1.1.1', '2606:4700::1111'],
    'half.example': ['1.1.1.1', '10.0.0.1'],
    'home.example': ['127.0.0.1'],
    'nas.example': ['192.168.1.20'],
  };
  const policy = (more: { allowsLoopback?: boolean; allowHosts?: readonly string[] } = {}) =>
    createAddressPolicy({
      allowHosts: [],
      allowsLoopback: true,
      ...more,
      resolve: async (name) =>
        (names[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    });

  test('public ones, at the addresses that were looked at', async () => {
    const addresses = await policy().resolveHost('public.example');
    expect(addresses.map(({ address }) => address)).toEqual(names['public.example']);
  });

  test.each([
    'nas.example',
    'half.example',
    '10.0.0.1',
    '[fe80::1]',
    '[::ffff:10.0.0.1]',
    '0.0.0.0',
  ])('%s is refused: not one of its addresses may be private', async (host) => {
    await expect(policy().resolveHost(host)).rejects.toThrow(RefusedAddress);
  });

  test.each(['127.0.0.1', '[::1]', 'home.example'])(
    '%s only while the service listens on loopback',
    async (host) => {
      await expect(policy().resolveHost(host)).resolves.toHaveLength(1);
      const open = policy({ allowsLoopback: false });
      await expect(open.resolveHost(host)).rejects.toThrow(/this machine.*--allow-host/);
    },
  );

  test('this machine not where another one sends there', async () => {
    await expect(policy().resolveHost('home.example', true)).rejects.toThrow(RefusedAddress);
    await expect(policy().resolveHost('public.example', true)).resolves.toHaveLength(2);
  });

  test.each([
    ['nas.example', 'nas.example'],
    ['NAS.example.', 'nas.example'],
    ['10.0.0.1', '10.0.0.1'],
    ['[fe80::1]', 'fe80::1'],
  ])('%s is allowed where it was named', async (host, named) => {
    const allowing = policy({ allowsLoopback: false, allowHosts: [named] });
    await expect(allowing.resolveHost(host)).resolves.toBeDefined();
    await expect(allowing.resolveHost('192.168.1.21')).rejects.toThrow(RefusedAddress);
  });
});
