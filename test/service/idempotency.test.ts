import { describe, expect, it } from 'vitest';
import { KEY, OTHER_KEY, testService, voiceId } from './support/test-service.ts';

const BODY = {
  text: 'Hello. Again.',
  voiceId: voiceId('Clara'),
  modelId: 'vendor-s21pro',
  format: 'wav',
};
const COST = 13;
const GRANT = 1_000_000;

async function codeOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  return Object(body).code;
}

describe('an idempotency key', () => {
  it('that was completed gives 409 and is not charged again', async () => {
    const { speak, balance } = await testService();
    await (await speak(BODY, { 'Idempotency-Key': 'k' })).arrayBuffer();
    for (let again = 0; again < 3; again += 1) {
      const response = await speak(BODY, { 'Idempotency-Key': 'k' });
      expect(response.status).toBe(409);
      expect(await codeOf(response)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
    }
    expect((await balance()).credits).toBe(GRANT - COST);
  });

  it('does not care about the order of the fields, but about every value', async () => {
    const { speak } = await testService();
    await (await speak(BODY, { 'Idempotency-Key': 'k' })).arrayBuffer();
    const { text, ...rest } = BODY;
    const turned = await speak({ ...rest, text }, { 'Idempotency-Key': 'k' });
    expect(await codeOf(turned)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
    for (const change of [
      { speed: 1.1 },
      { text: 'Hello.' },
      { filterEmoji: true },
      { format: 'mp3' },
    ]) {
      const other = await speak({ ...BODY, ...change }, { 'Idempotency-Key': 'k' });
      expect(other.status).toBe(409);
      expect(await codeOf(other)).toBe('ERR_REQUEST_ID_CONFLICT');
    }
  });

  it('in progress gives 409 with Retry-After, and a conflict for another body', async () => {
    const { speak, engine } = await testService();
    const release = engine.holdBefore(1);
    const first = await speak(BODY, { 'Idempotency-Key': 'k' });
    const second = await speak(BODY, { 'Idempotency-Key': 'k' });
    expect(second.status).toBe(409);
    expect(second.headers.get('Retry-After')).toBe('1');
    expect(await codeOf(second)).toBe('ERR_REQUEST_IN_PROGRESS');
    const other = await speak({ ...BODY, speed: 2 }, { 'Idempotency-Key': 'k' });
    expect(await codeOf(other)).toBe('ERR_REQUEST_ID_CONFLICT');
    release();
    await first.arrayBuffer();
    const third = await speak(BODY, { 'Idempotency-Key': 'k' });
    expect(await codeOf(third)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
  });

  it('sent fifty times at once is charged once', async () => {
    const { speak, balance } = await testService();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => speak(BODY, { 'Idempotency-Key': 'k' })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    expect(await balance()).toEqual({ credits: GRANT - COST, quota: GRANT - COST });
  });

  it('belongs to its account', async () => {
    const { speak, balance } = await testService();
    await (await speak(BODY, { 'Idempotency-Key': 'k' })).arrayBuffer();
    const other = await speak(BODY, {
      'Idempotency-Key': 'k',
      Authorization: `Bearer ${OTHER_KEY}`,
    });
    expect(other.status).toBe(200);
    await other.arrayBuffer();
    expect((await balance(KEY)).credits).toBe(GRANT - COST);
    expect((await balance(OTHER_KEY)).credits).toBe(GRANT - COST);
  });

  it.each(['spaced id', 'x'.repeat(129)])(
    'comes with a clean request id or is 400: %s',
    async (id) => {
      const { speak, balance } = await testService();
      for (const headers of [
        { 'X-Request-Id': id },
        { 'X-Request-Id': id, 'Idempotency-Key': 'k' },
      ]) {
        const response = await speak(BODY, headers);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          details: { errors: [{ field: 'X-Request-Id' }] },
        });
      }
      expect((await balance()).credits).toBe(GRANT);
    },
  );

  it('is not the request id', async () => {
    const { speak, balance } = await testService();
    for (let again = 0; again < 2; again += 1) {
      const response = await speak(BODY, { 'X-Request-Id': 'same' });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
    expect((await balance()).credits).toBe(GRANT - 2 * COST);
  });

  it.each(['k'.repeat(129), 'two words', '', 'caf\u00e9'])('may not be %j', async (key) => {
    const { speak, balance } = await testService();
    const response = await speak(BODY, { 'Idempotency-Key': key });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      message: expect.stringMatching(/^Idempotency-Key .*; allowed: 1 to 128 visible ASCII/),
    });
    expect((await balance()).credits).toBe(GRANT);
  });

  it('may have 128 characters', async () => {
    const { speak } = await testService();
    const response = await speak(BODY, { 'Idempotency-Key': '~'.repeat(128) });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  it('is not used up by a request without a valid key of the account', async () => {
    const { speak } = await testService();
    const refused = await speak(BODY, { 'Idempotency-Key': 'k', Authorization: 'Bearer wrong' });
    expect(refused.status).toBe(401);
    const response = await speak(BODY, { 'Idempotency-Key': 'k' });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  it('is remembered by the next service on the same data', async () => {
    const { speak, store } = await testService();
    await (await speak(BODY, { 'Idempotency-Key': 'k' })).arrayBuffer();
    const next = await testService({ store });
    const response = await next.speak(BODY, { 'Idempotency-Key': 'k' });
    expect(await codeOf(response)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
    expect((await next.balance()).credits).toBe(GRANT - COST);
  });
});
