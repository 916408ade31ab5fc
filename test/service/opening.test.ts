import { describe, expect, it } from 'vitest';
import { amountsIn } from '../../src/service/ledger/ledger.ts';
import { verifyLedger } from '../../src/service/ledger/ledger.ts';
import { OTHER_KEY, testService, voiceId } from './support/test-service.ts';

const BODY = { text: 'Hello. Again.', voiceId: voiceId('Clara'), modelId: 'vendor-s21pro' };
const GRANT = 1_000_000;

describe('opening credits', () => {
  it('are what every account begins with, and 402 comes when they are short', async () => {
    const { speak, balance } = await testService({ openingCredits: 20 });
    expect(await balance()).toEqual({ credits: 20, quota: GRANT });
    expect(await balance(OTHER_KEY)).toEqual({ credits: 20, quota: GRANT });
    await (await speak(BODY)).arrayBuffer();
    const short = await speak(BODY);
    expect(short.status).toBe(402);
    expect(await short.json()).toMatchObject({
      code: 'ERR_INSUFFICIENT_CREDITS',
      details: { needed: { credits: 13 }, available: { credits: 7 } },
    });
    expect((await balance()).credits).toBe(7);
  });

  it.each([0, 5, 20, 2_000_000])(
    'are exactly so many whatever there was before: %i',
    async (openingCredits) => {
      const first = await testService({ openingCredits: 1_000 });
      await (await first.speak(BODY)).arrayBuffer();
      const { store, clock } = first;
      const next = await testService({ store, clock, openingCredits });
      expect((await next.balance()).credits).toBe(openingCredits);
      expect(store.read((db) => amountsIn(db, 'first', 'spent')).credits).toBe(13);
      verifyLedger(store, { full: true });
    },
  );

  it('are not topped up until the next opening without them', async () => {
    const { store, clock, balance } = await testService({ openingCredits: 3 });
    expect((await balance()).credits).toBe(3);
    const next = await testService({ store, clock });
    expect((await next.balance()).credits).toBe(GRANT);
  });

  it('leave alone what is set aside', async () => {
    const first = await testService({ openingCredits: 100 });
    const { store, clock } = first;
    first.engine.holdBefore(1);
    const running = await first.speak({ ...BODY, format: 'wav' });
    const next = await testService({ store, clock, openingCredits: 50 });
    expect((await next.balance()).credits).toBe(50);
    await running.body?.cancel();
    expect((await next.balance()).credits).toBe(50);
    verifyLedger(store, { full: true });
  });
});
