import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextTurn } from '../../src/service/ledger/accounts.ts';
import { OTHER_KEY, jsonPost, testService, voiceId } from './support/test-service.ts';

const VOICES = '/api/open/v3/voices';
const OTHER = { headers: { Authorization: `Bearer ${OTHER_KEY}` } };

describe('the turns of a rate', () => {
  it('let as many through in any stretch as the rate and one burst allow, and never fewer', () => {
    const gaps = fc.array(fc.oneof(fc.nat({ max: 3_000 }), fc.constant(0)), { maxLength: 200 });
    fc.assert(
      fc.property(fc.constantFrom(0.5, 1, 2.5, 10, 40), gaps, (rate, pauses) => {
        const burst = Math.max(1, Math.floor(rate));
        const taken: number[] = [];
        let nextFree: number | undefined;
        let now = 1_800_000_000_000;
        for (const pause of pauses) {
          now += pause;
          const turn = nextTurn(nextFree, now, rate);
          const inLastSecond = taken.filter((at) => at > now - 1_000).length;
          if (turn.kind === 'taken') {
            nextFree = turn.nextFree;
            taken.push(now);
          } else {
            expect(turn.waitMs).toBeLessThanOrEqual(1_000 / rate + 0.01);
            expect(nextTurn(nextFree, now + turn.waitMs, rate).kind).toBe('taken');
            if (rate >= 1) expect(inLastSecond).toBeGreaterThan(0);
          }
        }
        for (const [index, from] of taken.entries()) {
          for (const [count, to] of taken.slice(index).entries()) {
            expect(count).toBeLessThanOrEqual(burst + ((to - from) * rate) / 1_000 + 0.01);
          }
        }
      }),
    );
  });

  it('are near again after the clock was set back', () => {
    const turn = nextTurn(2_000_000, 1_000_000, 2);
    expect(turn).toMatchObject({ kind: 'refused', waitMs: 500 });
  });
});

describe('an account with a rate', () => {
  it('is refused beyond it with a time to retry, and served then', async () => {
    const { call, clock } = await testService({ requestsPerSecond: 2 });
    expect((await call(VOICES)).status).toBe(200);
    expect((await call(VOICES)).status).toBe(200);
    const refused = await call(VOICES);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('1');
    expect(await refused.json()).toMatchObject({
      code: 'ERR_RATE_LIMITED',
      details: { requestsPerSecond: 2 },
    });
    clock.advance(500);
    expect((await call(VOICES)).status).toBe(200);
    expect((await call(VOICES)).status).toBe(429);
  });

  it('is served again at its rate after the clock was set back an hour', async () => {
    const { call, clock } = await testService({ requestsPerSecond: 1 });
    expect((await call(VOICES)).status).toBe(200);
    clock.setBack(3_600_000);
    expect((await call(VOICES)).status).toBe(429);
    for (let second = 0; second < 3; second += 1) {
      clock.advance(1_000);
      expect((await call(VOICES)).status).toBe(200);
    }
  });

  it('has to wait longer when the rate is slower', async () => {
    const { call } = await testService({ requestsPerSecond: 0.2 });
    await call(VOICES);
    expect((await call(VOICES)).headers.get('Retry-After')).toBe('5');
  });

  it('shares it among all services on the same data, and with no other account', async () => {
    const first = await testService({ requestsPerSecond: 2 });
    const second = await testService({
      requestsPerSecond: 2,
      store: first.store,
      clock: first.clock,
    });
    expect((await first.call(VOICES)).status).toBe(200);
    expect((await second.call(VOICES)).status).toBe(200);
    expect((await first.call(VOICES)).status).toBe(429);
    expect((await second.call(VOICES)).status).toBe(429);
    expect((await second.call(VOICES, OTHER)).status).toBe(200);
  });

  it('counts what needs a key: nothing public, nothing without a good one', async () => {
    const { call } = await testService({ requestsPerSecond: 1 });
    for (const path of ['/healthz', '/api/open/v3/speech/tts/capabilities', '/nothing']) {
      await call(path);
    }
    await call(VOICES, { headers: { Authorization: 'Bearer wrong' } });
    await call(VOICES, { method: 'DELETE' });
    expect((await call(VOICES)).status).toBe(200);
    expect((await call('/healthz')).status).toBe(200);
    expect((await call(VOICES)).status).toBe(429);
  });

  it('is charged nothing for what is refused, and its key is not used up', async () => {
    const { call, speak, balance, clock } = await testService({ requestsPerSecond: 1 });
    await call(VOICES);
    const body = { text: 'Hello', voiceId: voiceId('Clara') };
    const headers = { 'Idempotency-Key': 'k' };
    expect((await call('/api/open/v3/speech/tts', jsonPost(body, headers))).status).toBe(429);
    clock.advance(1_000);
    const before = await balance();
    clock.advance(1_000);
    const spoken = await speak(body, headers);
    expect(spoken.status).toBe(200);
    expect(before.credits).toBe(1_000_000);
    await spoken.arrayBuffer();
  });
});
