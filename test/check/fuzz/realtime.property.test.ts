import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountsIn } from '../../../src/service/ledger/ledger.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { describeArrived } from '../../realtime/arrival.ts';
import { VERSIONS } from '../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../realtime/raw-client.ts';
import { toWire } from '../../realtime/wire-names.ts';
import { plainRequest, realtimeService } from '../../service/realtime/realtime-service.ts';

const RUNS = process.env['FOLEY_TEST_SIZE'] === 'full' ? 2_000 : 40;

const junk = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 2 }),
  fc.dictionary(fc.string({ maxLength: 3 }), fc.integer(), { maxKeys: 2 }),
);
function mostly(...values: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...values) }, junk);
}
const controls = fc.record(
  {
    format: mostly('wav', 'pcm', 'opus', 'mp3', 'ogg'),
    speed: mostly(0.5, 1, 2, 3),
    volume: mostly(-20, 0, 5, 99),
    stability: mostly(0.5, 1, 9),
    language: mostly('en', 'fr'),
    chunkLength: mostly(50, 1_000, 7),
    textNormalization: mostly(true, false),
    emotion: mostly('happy', 'other'),
    parameterProfile: mostly('product_v1', 'legacy'),
    extra: junk,
  },
  { requiredKeys: [] },
);
const message = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      event: fc.constant('text'),
      sequence: mostly(1, 2, 3),
      text: mostly('One. ', 'Two.', '…', ''),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ event: fc.constant('flush'), segmentId: mostly('s1', 's2') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      event: fc.constant('input'),
      text: mostly('One.', ' '),
      commit: mostly(true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ event: fc.constantFrom('stop', 'ping') }) },
  fc.record({ event: fc.constant('auth'), token: junk }),
  fc.record({ event: fc.string({ maxLength: 4 }) }),
  junk,
);
const conversation = fc.record({
  version: fc.constantFrom(...VERSIONS),
  mode: mostly('reliable', 'simple'),
  requestId: mostly('a', 'b', 'c'),
  retryFailed: mostly(true, false),
  controls,
  messages: fc.array(message, { maxLength: 12 }),
  end: fc.constantFrom('stop', 'drop', 'garbage'),
});

test('whatever a client sends, it is answered by the tables, nothing breaks, and the books balance', async () => {
  const service = await realtimeService();
  await fc.assert(
    fc.asyncProperty(
      conversation,
      async ({ version, messages, end, controls: given, ...start }) => {
        const client = await service.connect(version);
        await client.expect('authenticated');
        const request = { ...plainRequest(version), ...given };
        client.send({ event: 'start', ...start, request });
        for (const [index, one] of messages.entries()) {
          const fields = typeof one === 'object' && one !== null && !Array.isArray(one);
          client.sendExactly(fields ? toWire(version, { eventId: `m${index}`, ...one }) : one);
        }
        await finish(client, end);
        const wrong = client.journal.flatMap((entry) =>
          entry.kind === 'message' && entry.faults.length > 0 ? [describeArrived(entry)] : [],
        );
        expect(wrong).toEqual([]);
        expect(client.messages.map(({ code }) => code)).not.toContain('internal_error');
      },
    ),
    { numRuns: RUNS },
  );
  expect(service.events.filter(({ type }) => type === 'failure')).toEqual([]);
  await expect.poll(() => reserved(service)).toEqual({ credits: 0, quota: 0 });
  verifyLedger(service.store, { full: true });
}, 120_000);

/** Until the service has ended it, or the line is gone. */
async function finish(client: RawRealtimeClient, end: 'stop' | 'drop' | 'garbage'): Promise<void> {
  if (end === 'stop') client.send({ event: 'stop' });
  if (end === 'drop') client.socket.terminate();
  else client.socket.send(Buffer.from('c1', 'hex'));
  await client.ended();
}

function reserved({ store }: Awaited<ReturnType<typeof realtimeService>>) {
  return store.read((db) => amountsIn(db, 'first', 'reserved'));
}
