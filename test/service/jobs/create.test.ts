import { createHash } from 'node:crypto';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { Job, JobAccepted } from '../../../src/contract/jobs.ts';
import { countCodePoints, sliceCodePoints } from '../../../src/text/code-points.ts';
import { pollHeaders } from '../../../src/service/endpoints/job-responses.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { jsonPost, voiceId } from '../support/test-service.ts';
import { BODY, GRANT, JOBS, jobService, paragraphs } from './job-service.ts';

describe('POST /api/open/v3/speech/tts/jobs', () => {
  it('accepts a text: 202, where to ask, and when', async () => {
    const { call } = await jobService();
    const response = await call(JOBS, jsonPost(BODY, { 'X-Request-Id': 'trace' }));
    expect(response.status).toBe(202);
    const body: unknown = await response.json();
    expect(Check(JobAccepted, body)).toBe(true);
    const { taskId } = Object(body).task;
    expect(body).toEqual({
      task: { taskId, status: 'pending', voiceId: BODY.voiceId, modelId: 'vendor-s21pro' },
      requestId: 'trace',
      quotaRemaining: GRANT - 13,
      creditsUsed: 13,
      ignoredParameters: [],
    });
    expect(response.headers.get('Location')).toBe(`${JOBS}/${taskId}`);
    expect(response.headers.get('Retry-After')).toBe('0');
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('13');
    expect(response.headers.get('X-OpenAPI-Quota-Remaining')).toBe(String(GRANT - 13));
  });

  it('is asked about where it says', async () => {
    const { call } = await jobService();
    const created = await call(JOBS, jsonPost(BODY));
    const response = await call(created.headers.get('Location') ?? '');
    expect(response.status).toBe(200);
    const body: unknown = await response.json();
    expect(Check(Job, body)).toBe(true);
    expect(Object(body).task.taskId).toBe(Object(await created.json()).task.taskId);
  });

  it('names a later moment for a longer text, and none once it is done', async () => {
    const { call, ended, directed } = await jobService();
    const release = directed.holdAt('said');
    const created = await call(
      JOBS,
      jsonPost({ ...BODY, text: paragraphs('a', 'b', 'c', 'd', 'e', 'f', 'g') }),
    );
    expect(created.headers.get('Retry-After')).toBe('3');
    const path = created.headers.get('Location') ?? '';
    expect((await call(path)).headers.get('Retry-After')).toBe('3');
    release();
    await ended(Object(await created.json()).task.taskId);
    expect((await call(path)).headers.has('Retry-After')).toBe(false);
  });

  it.each([
    [0.1, 100, '0'],
    [0.5, 0, '1'],
    [1.2, 0, '2'],
    [0.1, 1_000, '0'],
    [0.1, 30_000, '1'],
    [0.1, 130_000, '3'],
    [0.1, 3_600_000, '30'],
  ])('with %d s expected after %d ms names %s s', (expected, ageMs, seconds) => {
    const end = { finishedAt: undefined, errorCode: undefined, errorMessage: undefined };
    const job = {
      id: 'j',
      status: 'pending',
      progress: 0,
      credits: 1,
      createdAt: 5,
      ...end,
    } as const;
    const clock = { ...manualClock(), now: () => 5 + ageMs };
    expect(pollHeaders(job, expected, clock)).toEqual({ 'Retry-After': seconds });
  });

  it('takes the model of the voice where none is named, and lists what it ignores', async () => {
    const { call } = await jobService();
    const body = {
      text: 'Hello',
      voiceId: voiceId('Nora'),
      stability: 1,
      volume: 3,
      emotion: 'odd',
    };
    const answer: unknown = await (await call(JOBS, jsonPost(body))).json();
    expect(answer).toMatchObject({
      task: { modelId: 'altA-2.8-turbo' },
      ignoredParameters: ['stability', 'emotion'],
    });
    const { taskId } = Object(answer).task;
    expect(await (await call(`${JOBS}/${taskId}`)).json()).toMatchObject({
      ignoredParameters: ['stability', 'emotion'],
    });
  });

  it('shows the submitted text, and bills the filtered one', async () => {
    const { ended, create, directed, task } = await jobService();
    const text = `(◕‿◕) ${'🎺 says. '.repeat(20)}`;
    const id = await create({ text, filterEmoji: true });
    expect(await task(id)).toMatchObject({
      characters: countCodePoints(text) - 6,
      textPreview: sliceCodePoints(text, 0, 80),
      textFingerprint: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    });
    await ended(id);
    expect(directed.texts.join('')).toBe(text.slice(6));
  });

  it.each([
    [{ text: '' }, 400],
    [{ text: '   ' }, 400],
    [{ text: '(◕‿◕)', filterEmoji: true }, 400],
    [{ text: 'x'.repeat(10_001) }, 400],
    [{ token: 'x' }, 400],
    [{ filterEmoji: 'false' }, 400],
    [{ format: 'pcm' }, 400],
    [{ speed: 3 }, 400],
    [{ modelId: 'altA-2.8-hd' }, 400],
    [{ modelId: 'vendor-s1' }, 503],
    [{ voiceId: 'nobody' }, 404],
  ])('refuses %j with %i, and nothing is left of it', async (change, status) => {
    const { call, balance } = await jobService({ unavailableModels: ['vendor-s1'] });
    const body = jsonPost({ ...BODY, ...change }, { 'Idempotency-Key': 'k' });
    expect((await call(JOBS, body)).status).toBe(status);
    expect((await balance()).credits).toBe(GRANT);
    expect(Object(await (await call(JOBS)).json()).items).toEqual([]);
    expect((await call(JOBS, jsonPost(BODY, { 'Idempotency-Key': 'k' }))).status).toBe(202);
  });

  it('refuses what the account cannot pay, and does not use up the key', async () => {
    const { call, create } = await jobService({ allowance: { credits: 20, quota: 100 } });
    await create();
    const response = await call(JOBS, jsonPost(BODY, { 'Idempotency-Key': 'k' }));
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      code: 'ERR_INSUFFICIENT_CREDITS',
      details: { needed: { credits: 13, quota: 13 }, available: { credits: 7, quota: 87 } },
    });
    const small = jsonPost({ ...BODY, text: 'Hi.' }, { 'Idempotency-Key': 'k' });
    expect((await call(JOBS, small)).status).toBe(202);
  });
});

describe('a create whose body comes while the service closes', () => {
  it('is refused before anything is reserved: no worker would speak it', async () => {
    const service = await jobService();
    const { call, clock, store } = service;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'late' };
    const answer = call(JOBS, { method: 'POST', headers, body: readable, duplex: 'half' });
    const closed = service.service.close();
    const writer = writable.getWriter();
    await writer.write(Buffer.from(JSON.stringify(BODY)));
    await writer.close();
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: 'ERR_SERVICE_UNAVAILABLE', message: 'The service is closing' },
    ]);
    expect(response.headers.get('Retry-After')).toBe('1');
    await closed;
    const next = await jobService({ store, clock });
    expect((await next.balance()).credits).toBe(GRANT);
    expect((await next.ended(await next.create({}, headers))).status).toBe('success');
  });
});
