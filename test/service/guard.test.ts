import { describe, expect, it } from 'vitest';
import { ownHosts } from '../../src/service/http/guard.ts';
import { KEY, testService } from './support/test-service.ts';

const AUTHORIZED = { Authorization: `Bearer ${KEY}` };

describe('the host of a request', () => {
  it.each([
    ['127.0.0.1:4747', 200],
    ['localhost:4747', 200],
    ['LOCALHOST', 200],
    ['[::1]:4747', 200],
    ['127.0.0.1:8080', 200],
    ['studio.internal:4747', 200],
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost.', 421],
    ['localhost@evil.example', 421],
    ['127.1', 421],
    ['0.0.0.0:4747', 421],
    ['', 421],
  ])('%j gives %i', async (host, status) => {
    const { service } = await testService({ allowHosts: ['Studio.internal'] });
    const request = new Request('http://127.0.0.1:4747/healthz', { headers: { Host: host } });
    expect((await service.fetch(request)).status).toBe(status);
  });

  it('counts in the address too, as a proxy writes it', async () => {
    const { service } = await testService();
    const response = await service.fetch(new Request('http://evil.example/healthz'));
    expect(response.status).toBe(421);
    expect(await response.json()).toMatchObject({ code: 'ERR_HOST_NOT_ALLOWED' });
  });
});

describe('the origin of a request', () => {
  it.each([
    [{}, 200],
    [{ 'Sec-Fetch-Site': 'none' }, 200],
    [{ 'Sec-Fetch-Site': 'same-origin' }, 200],
    [{ Origin: 'https://studio.example' }, 200],
    [{ Origin: 'https://studio.example', 'Sec-Fetch-Site': 'cross-site' }, 200],
    [{ Origin: 'http://studio.example' }, 403],
    [{ Origin: 'https://studio.example.evil.example' }, 403],
    [{ Origin: 'http://127.0.0.1:4747' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ 'Sec-Fetch-Site': 'same-site' }, 403],
  ])('%j gives %i on every kind of path', async (headers, status) => {
    const { service } = await testService({ allowOrigins: ['https://studio.example'] });
    for (const path of ['/healthz', '/api/open/v3/voices', '/nothing']) {
      const request = new Request(`http://127.0.0.1:4747${path}`, {
        headers: { ...AUTHORIZED, ...headers },
      });
      const expected = status === 200 && path === '/nothing' ? 404 : status;
      const response = await service.fetch(request);
      expect(response.status).toBe(expected);
      expect(response.headers.has('Access-Control-Allow-Origin')).toBe(false);
    }
  });

  it('is looked at before the key and the body', async () => {
    const { service } = await testService();
    const request = new Request('http://127.0.0.1:4747/api/open/v3/speech/tts', {
      method: 'POST',
      headers: { Origin: 'https://evil.example' },
      body: 'x',
    });
    expect(await (await service.fetch(request)).json()).toMatchObject({
      code: 'ERR_ORIGIN_NOT_ALLOWED',
    });
  });
});

describe('the key of a request', () => {
  it.each([
    [`Bearer ${KEY}`, 200],
    [`bearer ${KEY}`, 200],
    [`Bearer   ${KEY}`, 200],
    ['', 401],
    ['Bearer', 401],
    ['Bearer ', 401],
    [KEY, 401],
    [`Basic ${KEY}`, 401],
    [`Bearer ${KEY}x`, 401],
    [`Bearer ${KEY.slice(0, -1)}`, 401],
    [`Bearer ${KEY} ${KEY}`, 401],
    [`Bearer ${'x'.repeat(513)}`, 401],
  ])('%j gives %i', async (authorization, status) => {
    const { call } = await testService();
    const response = await call('/api/open/v3/voices', {
      headers: { Authorization: authorization },
    });
    expect(response.status).toBe(status);
    expect(response.headers.has('WWW-Authenticate')).toBe(status === 401);
    if (status === 401) expect(await response.text()).not.toContain(KEY);
  });

  it('is not asked for by the public documents', async () => {
    const { service } = await testService();
    for (const path of [
      '/healthz',
      '/api/open/v3/openapi.json',
      '/api/open/v3/speech/tts/capabilities',
    ]) {
      const response = await service.fetch(new Request(`http://127.0.0.1:4747${path}`));
      expect(response.status).toBe(200);
    }
  });

  it('is not taken from the address', async () => {
    const { service } = await testService();
    const request = new Request(`http://127.0.0.1:4747/api/open/v3/voices?api_key=${KEY}`);
    expect((await service.fetch(request)).status).toBe(401);
  });
});

describe('the names of a service that listens elsewhere than on loopback', () => {
  const family = 'IPv4' as const;
  const others = { netmask: '', mac: '', internal: false, cidr: null, family };
  const interfaces = () => ({
    lo: [{ ...others, address: '127.0.0.1' }],
    eth0: [
      { ...others, address: '192.0.2.7' },
      { ...others, address: '2001:db8::7' },
    ],
    none: undefined,
  });

  it.each([
    ['0.0.0.0', ['127.0.0.1', '192.0.2.7', '[2001:db8::7]']],
    ['::', ['127.0.0.1', '192.0.2.7', '[2001:db8::7]']],
    ['192.0.2.7', ['192.0.2.7']],
    ['2001:db8::7', ['[2001:db8::7]']],
    ['studio.internal', ['studio.internal']],
  ])('for %s are its addresses', (host, names) => {
    expect(ownHosts(host, interfaces)).toEqual(names);
  });
});
