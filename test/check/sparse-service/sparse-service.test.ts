import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import { startSparseProxy } from '../../sparse-service/sparse-proxy.ts';

/** A sparse service, and a way to ask it. */
async function sparse() {
  const service = await startServe();
  const origin = await startSparseProxy(service.baseUrl);
  const voiceId = await firstVoiceId(service);
  const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${service.apiKey}` };
    const json = { ...headers, 'Content-Type': 'application/json' };
    const answer = await request(origin + path, {
      method,
      ...(body === undefined ? { headers } : { headers: json, body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text };
  };
  return { ask, voiceId };
}

function keysOf(text: string): readonly string[] {
  return Object.keys(Object(JSON.parse(text))).sort();
}

const JOBS = '/api/open/v3/speech/tts/jobs';

describe('the sparse service', () => {
  test('creates a job with every field that the API names, and polls with id and status', async () => {
    const { ask, voiceId } = await sparse();
    const created = await ask('POST', JOBS, { text: 'Hello.', voiceId });
    expect(created.status).toBe(202);
    expect(keysOf(created.text)).toEqual([
      'creditsUsed',
      'ignoredParameters',
      'laterField',
      'quotaRemaining',
      'requestId',
      'task',
    ]);
    const { task } = Object(JSON.parse(created.text));
    expect(created.headers['location']).toContain(task.taskId);
    const polled = await ask('GET', `${JOBS}/${task.taskId}`);
    expect(keysOf(polled.text)).toEqual(['laterField', 'task']);
    expect(Object.keys(JSON.parse(polled.text).task).sort()).toEqual([
      'laterField',
      'status',
      'taskId',
    ]);
    expect(polled.headers).not.toHaveProperty('retry-after');
    expect(polled.headers).toHaveProperty('x-later-header');
  });

  test('lists v1 voices in both shapes', async () => {
    const { ask } = await sparse();
    const { text } = await ask('GET', '/api/open/v1/voices?pageSize=2');
    const { items } = Object(JSON.parse(text));
    expect(items.map((item: object) => Object.keys(item).sort())).toEqual([
      ['created_at', 'description', 'isPersonal', 'laterField', 'title', 'updated_at', 'voiceId'],
      ['id', 'laterField', 'name', 'provider'],
    ]);
  });

  test('speaks, and reports the cost in the named headers only', async () => {
    const { ask, voiceId } = await sparse();
    const { headers, status } = await ask('POST', '/api/open/v3/speech/tts', {
      text: 'Hello.',
      voiceId,
    });
    expect(status).toBe(200);
    const own = Object.keys(headers).filter((name) => name.startsWith('x-'));
    expect(own.sort()).toEqual([
      'x-later-header',
      'x-openapi-credits-used',
      'x-openapi-quota-remaining',
      'x-request-id',
    ]);
    expect(headers).not.toHaveProperty('server');
  });

  test.each([
    ['an unknown field', { text: 'Hello.', voiceId: 'v', token: 'x' }],
    ['a missing field', { voiceId: 'v' }],
    ['a wrong type', { text: 'Hello.', voiceId: 'v', speed: '1' }],
    ['a value out of range', { text: 'Hello.', voiceId: 'v', speed: 2.5 }],
    ['a text that is too long', { text: 'x'.repeat(10_001), voiceId: 'v' }],
  ])('refuses %s', async (_name, body) => {
    const { ask } = await sparse();
    const { status, text } = await ask('POST', JOBS, body);
    expect(status).toBe(400);
    expect(Object(JSON.parse(text))).toMatchObject({ code: 'ERR_INVALID_REQUEST' });
  });

  test('refuses an image without an idempotency key', async () => {
    const { ask } = await sparse();
    const body = { prompt: 'A lighthouse', model: 'm' };
    expect((await ask('POST', '/api/open/v1/media/images/jobs', body)).text).toContain(
      'no Idempotency-Key',
    );
  });
});
