import { expect, test } from 'vitest';
import { proxyAddress, proxyAuthorization, proxyFor } from '../../src/api/transport/proxy.ts';

const P = 'http://proxy:3128';
const Q = 'http://other:3128';

test.each<readonly [string, Record<string, string>, string | undefined]>([
  ['https://a.example', {}, undefined],
  ['https://a.example', { HTTPS_PROXY: P }, P],
  ['https://a.example', { https_proxy: Q, HTTPS_PROXY: P }, Q],
  ['https://a.example', { https_proxy: '', HTTPS_PROXY: P }, P],
  ['https://a.example', { HTTP_PROXY: P }, P],
  ['https://a.example', { HTTP_PROXY: P, HTTPS_PROXY: Q }, Q],
  ['https://a.example', { HTTPS_PROXY: 'proxy:3128' }, P],
  ['https://a.example', { HTTPS_PROXY: P, NO_PROXY: 'a.example' }, undefined],
  ['https://b.a.example', { HTTPS_PROXY: P, NO_PROXY: 'a.example' }, undefined],
  ['https://b.a.example', { HTTPS_PROXY: P, no_proxy: '.a.example' }, undefined],
  ['https://b.a.example', { HTTPS_PROXY: P, NO_PROXY: '*.A.example' }, undefined],
  ['https://ba.example', { HTTPS_PROXY: P, NO_PROXY: 'a.example' }, P],
  ['https://a.example', { HTTPS_PROXY: P, NO_PROXY: 'x.example, a.example:443' }, undefined],
  ['https://a.example', { HTTPS_PROXY: P, NO_PROXY: 'a.example:8443' }, P],
  ['https://a.example:8443', { HTTPS_PROXY: P, NO_PROXY: 'a.example:8443' }, undefined],
  ['https://a.example', { HTTPS_PROXY: P, NO_PROXY: '*' }, undefined],
  ['https://a.example', { HTTPS_PROXY: P, NO_PROXY: ' , ' }, P],
  ['https://[2001:db8::1]', { HTTPS_PROXY: P, NO_PROXY: '[2001:db8::1]' }, undefined],
  ['https://[2001:db8::1]', { HTTPS_PROXY: P, NO_PROXY: '2001:DB8::1' }, undefined],
  ['https://[2001:db8::2]', { HTTPS_PROXY: P, NO_PROXY: '2001:db8::1' }, P],
  ['http://127.0.0.1:80', { HTTP_PROXY: P }, undefined],
  ['http://localhost', { HTTP_PROXY: P }, undefined],
  ['https://[::1]:4747', { HTTPS_PROXY: P }, undefined],
])('%s with %o goes through %s', (url, env, expected) => {
  expect(proxyFor(new URL(url), env)).toBe(expected);
});

test.each([
  ['http://proxy:3128', undefined],
  ['HTTPS://me:secret@proxy', 'me:secret'],
  ['http://me@proxy', 'me:'],
  ['http://:secret@proxy', ':secret'],
  ['http://me:se%40cret@proxy', 'me:se@cret'],
  ['http://me:100%@proxy', 'me:100%'],
])('the proxy %s is shown as %s', (proxy, shown) => {
  const { 'proxy-authorization': header } = proxyAuthorization(proxyAddress(proxy));
  const [, encoded] = header?.split(' ') ?? [];
  expect(encoded).toBe(shown === undefined ? undefined : Buffer.from(shown).toString('base64'));
});
