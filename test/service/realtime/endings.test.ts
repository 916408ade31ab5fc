import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/service/store/open-store.ts';
import type { Message } from '../../realtime/wire-names.ts';
import { VERSIONS } from '../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../realtime/raw-client.ts';
import { connectRealtime } from '../../realtime/raw-client.ts';
import { askTicket, ticketIn } from '../../realtime/ticket-request.ts';
import { KEY } from '../support/test-service.ts';
import { plainRequest, realtimeService } from './realtime-service.ts';

const ORIGIN = 'https://studio.example';

describe.each(VERSIONS)('a connection of %s ends', (version) => {
  async function started(
    service: Awaited<ReturnType<typeof realtimeService>>,
    mode: 'simple' | 'reliable' = 'reliable',
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<RawRealtimeClient> {
    const client = await service.connect(version);
    await client.expect('authenticated');
    const request = plainRequest(version, more);
    client.send({ event: 'start', mode, requestId: 'r', request });
    await client.expect('ready');
    return client;
  }

  test('with `authentication_required` when no ticket comes in time', async () => {
    const { baseUrl, clock } = await realtimeService();
    ticketIn(await askTicket({ baseUrl, version, key: KEY, origin: ORIGIN }));
    const page = await connectRealtime({ version, baseUrl, origin: ORIGIN });
    await expect.poll(() => clock.running()).toContain(10_000);
    clock.advance(10_000);
    await page.expect('error', { code: 'authentication_required', terminal: true });
    expect(await page.ended()).toMatchObject({ code: 1008 });
  });

  test('with `connection_closed` when nothing is asked for', async () => {
    const { connect, clock } = await realtimeService();
    const client = await connect(version);
    await client.expect('authenticated');
    clock.advance(120_000);
    await client.expect('error', { code: 'connection_closed', terminal: true, retryable: true });
    expect(await client.ended()).toMatchObject({ code: 1000 });
  });

  test('with `finish` `timeout` when a client that began says nothing more', async () => {
    const service = await realtimeService();
    const client = await started(service);
    service.clock.advance(120_000);
    await client.expect('finish', { reason: 'timeout' });
    expect(await client.ended()).toMatchObject({ code: 1000 });
    expect(await stateOf(service, 'r')).toMatchObject({ state: 'failed_retryable', units: 0 });
  });

  test('with `provider_timeout` when the engine is silent; nothing is charged', async () => {
    const service = await realtimeService();
    const before = await service.balance();
    service.engine.holdBefore(0);
    const client = await started(service);
    say(client, 1, 'One.');
    await client.until('segment_accepted');
    await expect.poll(service.engine.speaking).toBe(1);
    service.clock.advance(70_000);
    await client.expect('error', { code: 'provider_timeout', retryable: true, terminal: true });
    expect(await client.ended()).toMatchObject({ code: 1013 });
    expect(await service.balance()).toEqual(before);
  });

  test('with `generation_failed` when the engine breaks, also after audio; nothing is charged', async () => {
    const service = await realtimeService();
    const before = await service.balance();
    service.engine.failBefore(1);
    const client = await started(service);
    say(client, 1, 'One. Two.');
    const messages = await client.until('error');
    expect(messages.at(-1)).toMatchObject({ code: 'generation_failed', retryable: true });
    expect(await client.ended()).toMatchObject({ code: 1011 });
    expect(await service.balance()).toEqual(before);
    expect(await stateOf(service, 'r')).toMatchObject({ state: 'failed_retryable', units: 0 });
  });

  test('with `billing_failed` when the books cannot be written', async () => {
    const service = await realtimeService();
    const release = service.engine.holdBefore(0);
    const client = await started(service);
    say(client, 1, 'One.');
    await client.until('segment_accepted');
    const broken = breakStore(service);
    release();
    const messages = await client.until('error');
    expect(messages.at(-1)).toMatchObject({ code: 'billing_failed', terminal: true });
    expect(await client.ended()).toMatchObject({ code: 1011 });
    broken.mend();
    expect(client.audio.length).toBe(0);
  });

  test.each(['simple', 'reliable'] as const)(
    'with a reason that cannot be retried when the disk is full (%s mode); nothing is charged',
    async (mode) => {
      const service = await realtimeService();
      const before = await service.balance();
      const client = await started(service, mode);
      const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
      const release = service.engine.holdBefore(0);
      if (mode === 'simple') client.send({ event: 'input', text: 'One. Two.', commit: true });
      else say(client, 1, 'One. Two.');
      await expect.poll(service.engine.speaking).toBe(1);
      const broken = breakStore(service, full);
      release();
      const messages = await client.until('error');
      const problem = { code: 'billing_failed', retryable: false, stage: 'storage' };
      expect(messages.at(-1)).toMatchObject(problem);
      expect(messages.at(-1)).toHaveProperty('message', expect.stringContaining('disk'));
      expect(await client.ended()).toMatchObject({ code: 1011 });
      broken.mend();
      // The request has ended, although its end could not be stored.
      expect(await stateOf(service, 'r')).toMatchObject({ state: 'failed_retryable', units: 0 });
      expect(await service.balance()).toEqual(before);
    },
  );

  test('with `internal_error` when the program is at fault, which is reported to the operator', async () => {
    const service = await realtimeService();
    const client = await started(service);
    const broken = breakStore(service, new TypeError('a bug'));
    say(client, 1, 'One.');
    const messages = await client.until('error');
    expect(messages.at(-1)).toMatchObject({ code: 'internal_error', terminal: true });
    broken.mend();
    expect(service.events).toContainEqual(expect.objectContaining({ type: 'failure' }));
  });

  test('with `session_limit_exceeded` above 100,000 units, for good', async () => {
    const service = await realtimeService();
    const client = await started(service, 'reliable', { modelId: 'vendor-s21pro-flash' });
    const text = `${'a'.repeat(1_999)}.`;
    let sequence = 0;
    for (let segment = 1; segment <= 10; segment += 1) {
      for (let piece = 0; piece < 5; piece += 1) {
        sequence += 1;
        client.send({ event: 'text', sequence, text });
      }
      client.send({ event: 'flush', segmentId: `s${segment}` });
      await client.until('segment_completed');
    }
    client.send({ event: 'text', sequence: sequence + 1, text: 'b' });
    client.send({ event: 'flush', segmentId: 'last' });
    const messages = await client.until('error');
    expect(messages.at(-1)).toMatchObject({ code: 'session_limit_exceeded', terminal: true });
    expect(await client.ended()).toMatchObject({ code: 1008 });
    const status = await stateOf(service, 'r');
    expect(status).toMatchObject({ state: 'failed_terminal', retryable: false, units: 100_000 });
  });

  test('with `server_draining` and 1012 when the service closes, after what was accepted', async () => {
    const service = await realtimeService();
    const release = service.engine.holdBefore(0);
    const client = await started(service);
    const idle = await service.connect(version);
    await idle.expect('authenticated');
    say(client, 1, 'One.');
    await client.until('segment_accepted');
    const closed = service.close();
    expect(await idle.ended()).toMatchObject({ code: 1012 });
    say(client, 2, 'Two.');
    client.send({ event: 'ping' });
    await client.until('pong');
    release();
    const messages = await client.until('finish');
    expect(names(messages)).toEqual(['usage', 'segment_completed', 'finish']);
    expect(messages.at(-1)).toMatchObject({ reason: 'server_draining', units: 4 });
    expect(await client.ended()).toMatchObject({ code: 1012 });
    await closed;
  });

  test('with 1013 when the service has no time to finish; what was not heard is given back', async () => {
    const service = await realtimeService();
    service.engine.holdBefore(0);
    const client = await started(service);
    say(client, 1, 'One.');
    await client.until('segment_accepted');
    const closed = service.close(AbortSignal.abort());
    await expect.poll(() => service.clock.running()).toContain(1_000);
    service.clock.advance(1_000);
    await client.expect('finish', { reason: 'server_draining' });
    expect(await client.ended()).toMatchObject({ code: 1013 });
    await closed;
    expect(
      service.store.read((db) =>
        db.get("SELECT count(*) AS n FROM reservation WHERE state = 'reserved'"),
      ),
    ).toMatchObject({ n: 0 });
  });
});

function say(client: RawRealtimeClient, number: number, text: string): void {
  client.send({ event: 'text', sequence: number, text });
  client.send({ event: 'flush', segmentId: `s${number}` });
}

function names(messages: readonly Message[]): readonly string[] {
  return messages.map(({ event }) => event).filter((event) => event !== 'audio');
}

async function stateOf(
  { call }: Awaited<ReturnType<typeof realtimeService>>,
  requestId: string,
): Promise<unknown> {
  return (await call(`/v3/tts/requests/${requestId}`)).json();
}

/** From now on nothing can be written. */
function breakStore(
  { store }: Awaited<ReturnType<typeof realtimeService>>,
  error: Error = new StoreError('locked', store.path, 'the database is held'),
): { mend(): void } {
  const { write } = store;
  store.write = () => {
    throw error;
  };
  return {
    mend() {
      store.write = write;
    },
  };
}
