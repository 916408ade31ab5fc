import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/service/http/metrics.ts';
import { METHODS } from 'node:http';
import { BASE_URL, jsonPost, KEY, testService, voiceId } from './support/test-service.ts';

const SPEECH = { text: 'Hello. Again.', voiceId: voiceId('Clara'), modelId: 'vendor-s21pro' };

async function measuredService() {
  const metrics = createMetrics(['tone']);
  const tested = await testService({ metrics, report: metrics.count });
  const ask = (remoteAddress?: string, headers: Readonly<Record<string, string>> = {}) =>
    tested.service.fetch(new Request(`${BASE_URL}/metrics`, { headers }), remoteAddress);
  /** The samples whose lines begin with a name and labels, without buckets. */
  const samples = async (prefix: string): Promise<readonly string[]> => {
    const text = await (await ask('127.0.0.1')).text();
    return text.split('\n').filter((line) => line.startsWith(prefix) && !line.includes('_bucket'));
  };
  return { ...tested, metrics, ask, samples };
}

describe('GET /metrics', () => {
  it('counts requests by path template and status, and times them', async () => {
    const { call, samples } = await measuredService();
    await call(`/api/open/v3/voices/${SPEECH.voiceId}`);
    await call('/api/open/v3/voices/unknown-voice', { method: 'HEAD' });
    await call('/api/open/v1/profile', { headers: { Authorization: 'Bearer wrong' } });
    const voice = 'method="GET",route="/api/open/v3/voices/{voiceId}"';
    expect(await samples('foley_http_requests_total')).toEqual([
      `foley_http_requests_total{${voice},status="200"} 1`,
      `foley_http_requests_total{${voice},status="404"} 1`,
      'foley_http_requests_total{method="GET",route="/api/open/v1/profile",status="401"} 1',
    ]);
    expect(await samples(`foley_http_first_byte_seconds_count{${voice}`)).toHaveLength(2);
    expect(await samples('foley_http_requests_total{method="GET",route="/metrics"')).toEqual([
      'foley_http_requests_total{method="GET",route="/metrics",status="200"} 2',
    ]);
  });

  it('has labels of the service only, whatever clients send', async () => {
    const { call, samples } = await measuredService();
    for (const [index, method] of METHODS.entries()) {
      if (['CONNECT', 'TRACE', 'HEAD'].includes(method)) continue;
      await call(`/${index}?secret=${index}`, { method });
      await call('/api/open/v3/voices', { method, headers: { 'X-Request-Id': `id-${index}` } });
    }
    const lines = await samples('foley_http_requests_total');
    const labels = lines.map((line) => line.replace(/ \d+$/, '').slice(25));
    const other = 'method="other",route="other"';
    expect(labels.toSorted()).toEqual([
      '{method="GET",route="/api/open/v3/voices",status="200"}',
      '{method="POST",route="/api/open/v3/voices",status="415"}',
      `{${other},status="404"}`,
      `{${other},status="405"}`,
    ]);
  });

  it('measures in seconds', async () => {
    const { metrics, samples } = await measuredService();
    const request = { type: 'request', method: 'POST', path: '/v1/tts', status: 200 } as const;
    const fields = { requestId: 'r', idempotencyKey: undefined, account: 'first', credits: '1' };
    metrics.count({ ...request, ...fields, durationMs: 1_500, faults: [] });
    expect(await samples('foley_http_first_byte_seconds_sum')).toEqual([
      'foley_http_first_byte_seconds_sum{method="POST",route="/v1/tts",status="200"} 1.5',
    ]);
  });

  it('counts the credits of speech once, and none of refunded speech', async () => {
    const { engine, samples, speak } = await measuredService();
    await (await speak(SPEECH)).arrayBuffer();
    engine.failBefore(0);
    expect((await speak(SPEECH)).status).toBe(500);
    const used = ['foley_credits_used_total{route="/api/open/v3/speech/tts"} 13'];
    expect(await samples('foley_credits_used_total')).toEqual(used);
    expect(await samples('foley_credits_used_total')).toEqual(used);
  });

  it('counts no credits that were spent before the start', async () => {
    const first = await testService();
    await (await first.speak(SPEECH)).arrayBuffer();
    const metrics = createMetrics([]);
    const second = await testService({ metrics, report: metrics.count, store: first.store });
    const read = () => second.service.fetch(new Request(`${BASE_URL}/metrics`), '::1');
    expect(await (await read()).text()).not.toContain('foley_credits_used_total{');
    await (await second.speak(SPEECH)).arrayBuffer();
    expect(await (await read()).text()).toMatch(/foley_credits_used_total\{.*\} 13\n/);
  });

  it('counts restarts of engines from 0', async () => {
    const { metrics, samples } = await measuredService();
    const restarts = () => samples('foley_engine_restarts_total');
    expect(await restarts()).toEqual(['foley_engine_restarts_total{engine="tone"} 0']);
    metrics.count({ type: 'engine-restarted', engine: 'tone' });
    expect(await restarts()).toEqual(['foley_engine_restarts_total{engine="tone"} 1']);
  });

  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
    'needs no key from %s, unless a proxy forwarded the request',
    async (address) => {
      const { ask } = await measuredService();
      expect((await ask(address)).status).toBe(200);
      for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Via']) {
        expect((await ask(address, { [name]: '127.0.0.1' })).status, name).toBe(401);
      }
    },
  );

  it.each(['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1', '::1234', undefined])(
    'needs an API key from %s',
    async (address) => {
      const { ask } = await measuredService();
      expect((await ask(address)).status).toBe(401);
      expect((await ask(address, { Authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await ask(address, { Authorization: `Bearer ${KEY}` })).status).toBe(200);
    },
  );

  it('refuses web pages of others and other methods', async () => {
    const { ask, service } = await measuredService();
    expect((await ask('127.0.0.1', { Origin: 'https://evil.example' })).status).toBe(403);
    const post = new Request(`${BASE_URL}/metrics`, jsonPost({}));
    const refused = await service.fetch(post, '127.0.0.1');
    expect([refused.status, refused.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is no path of a service without metrics', async () => {
    const { call } = await testService();
    expect((await call('/metrics')).status).toBe(404);
  });
});
