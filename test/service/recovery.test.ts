import { describe, expect, it } from 'vitest';
import type { Liveness, Processes } from '../../src/system/processes.ts';
import { systemProcesses } from '../../src/system/processes.ts';
import { systemRandom } from '../../src/system/random.ts';
import { beginOperation, createOperations } from '../../src/service/operations/operations.ts';
import { testService, voiceId } from './support/test-service.ts';

const BODY = {
  text: 'Hello. Again.',
  voiceId: voiceId('Clara'),
  modelId: 'vendor-s21pro',
  format: 'wav',
};
const KEYED = { 'Idempotency-Key': 'k' };

/** Sees every other process as this says. */
function seeing(liveness: Liveness): Processes {
  return { self: systemProcesses().self, liveness: () => liveness };
}

async function codeOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  return Object(body).code;
}

describe('what another process has in progress', () => {
  it('is left to it while it lives', async () => {
    const first = await testService();
    first.engine.holdBefore(1);
    await first.speak(BODY, KEYED);
    const second = await testService({ store: first.store, processes: seeing('alive') });
    second.clock.advance(24 * 3_600_000);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_IN_PROGRESS');
    expect((await second.balance()).credits).toBe(1_000_000 - 13);
  });

  it('is refunded at the start of the next when it is dead, and its body is cut', async () => {
    const first = await testService();
    const release = first.engine.holdBefore(1);
    const abandoned = await first.speak(BODY, KEYED);
    const second = await testService({ store: first.store, processes: seeing('dead') });
    expect((await second.balance()).credits).toBe(1_000_000);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_PREVIOUSLY_REFUNDED');
    release();
    await expect(abandoned.arrayBuffer()).rejects.toThrow();
    expect((await second.balance()).credits).toBe(1_000_000);
  });

  it('is refunded when it is met after its process died', async () => {
    const first = await testService();
    first.engine.holdBefore(0);
    let liveness: Liveness = 'alive';
    const processes = { self: systemProcesses().self, liveness: () => liveness };
    const second = await testService({ store: first.store, processes });
    void first.speak(BODY, KEYED);
    await expect.poll(first.engine.speaking).toBe(1);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_IN_PROGRESS');
    liveness = 'dead';
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_PREVIOUSLY_REFUNDED');
    expect((await second.balance()).credits).toBe(1_000_000);
  });

  it('waits for the lease to run out where nothing can be known of its process', async () => {
    const first = await testService();
    first.engine.holdBefore(1);
    await first.speak(BODY, KEYED);
    const second = await testService({ store: first.store, processes: seeing('unknown') });
    second.clock.advance(120_000);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_IN_PROGRESS');
    second.clock.advance(1);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_PREVIOUSLY_REFUNDED');
  });

  it('waits no longer after the clock was set back an hour', async () => {
    const first = await testService();
    first.engine.holdBefore(1);
    first.clock.advance(3_600_000);
    await first.speak(BODY, KEYED);
    const second = await testService({ store: first.store, processes: seeing('unknown') });
    second.clock.advance(120_000);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_IN_PROGRESS');
    second.clock.advance(1);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_PREVIOUSLY_REFUNDED');
  });

  it('is kept by a lease that its process renews', async () => {
    const first = await testService();
    first.engine.holdBefore(1);
    await first.speak(BODY, KEYED);
    first.clock.advance(30_000);
    first.clock.advance(30_000);
    const second = await testService({ store: first.store, processes: seeing('unknown') });
    second.clock.advance(180_000);
    expect(await codeOf(await second.speak(BODY, KEYED))).toBe('ERR_REQUEST_IN_PROGRESS');
  });

  it('leaves no owner behind when its service closes', async () => {
    const { speak, service, store } = await testService();
    await (await speak(BODY)).arrayBuffer();
    expect(store.read((db) => db.all('SELECT id FROM owner'))).toHaveLength(1);
    await service.close();
    expect(store.read((db) => db.all('SELECT id FROM owner'))).toHaveLength(0);
  });
});

describe('the processes of this machine', () => {
  const { self, liveness } = systemProcesses();

  it('include this one', () => {
    expect(liveness(self)).toBe('alive');
  });

  it.each([
    ['an unused pid', { pid: 2 ** 22 + 1 }, 'dead'],
    ['the same pid, started at another time', { processStart: '1' }, 'dead'],
    ['an earlier start of the machine', { bootId: 'earlier' }, 'dead'],
    ['another machine', { host: 'elsewhere', bootId: 'other' }, 'unknown'],
    ['another container', { pidNamespace: 'pid:[1]' }, 'unknown'],
    ['a platform without start times', { processStart: undefined }, 'unknown'],
  ] as const)('judge %s', (_name, change, expected) => {
    expect(liveness({ ...self, ...change })).toBe(expected);
  });
});

describe('the error of a realtime request', () => {
  it.each([
    ['without a charged segment, is that of its last segment', false, 200],
    ['with a charged segment, is missing: the request was not refunded', true, 404],
  ])('%s', async (_which, isCharged, status) => {
    const { call, clock, store } = await testService();
    const deps = { store, clock, random: systemRandom, processes: systemProcesses() };
    const operations = createOperations(deps);
    const segment = () =>
      beginOperation(operations, {
        accountId: 'first',
        endpoint: 'openRealtimeV3',
        idempotencyKey: undefined,
        fingerprint: 'text',
        requestId: 'live',
        charge: { credits: 1, quota: 1 },
      });
    const first = segment();
    if (isCharged) first.commit();
    if (isCharged) first.complete();
    else first.refund('stopped');
    segment().refund('stopped');
    expect((await call('/api/open/requests/live/error')).status).toBe(status);
  });
});
