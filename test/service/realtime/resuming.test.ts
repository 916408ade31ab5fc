import { describe, expect, test } from 'vitest';
import type { Liveness, Processes } from '../../../src/system/processes.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { VERSIONS } from '../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../realtime/raw-client.ts';
import type { Fields } from '../../realtime/wire-names.ts';
import type { RealtimeService } from './realtime-service.ts';
import { plainRequest, realtimeService } from './realtime-service.ts';

const TEXTS = ['One. Two.', ' Three.', ' Four. Five. Six.'];
const CHARACTERS = TEXTS.join('').length;

describe.each(VERSIONS)('a request of %s whose line broke', (version) => {
  async function begin(
    { connect }: RealtimeService,
    more: Fields = {},
    request: Fields = {},
  ): Promise<RawRealtimeClient> {
    const client = await connect(version);
    await client.expect('authenticated');
    const whole = plainRequest(version, { format: 'wav', ...request });
    client.send({ event: 'start', mode: 'reliable', requestId: 'r', request: whole, ...more });
    return client;
  }

  test.each(version === 'v3' ? ['wav', 'opus', 'pcm'] : ['wav'])(
    'is spoken again from the segment that broke, byte for byte the same, for one charge: %s',
    async (format) => {
      const undisturbed = await realtimeService();
      const whole = await begin(undisturbed, {}, { format });
      await whole.expect('ready');
      sayAll(whole);
      whole.send({ event: 'stop' });
      await whole.until('finish');

      const service = await realtimeService();
      const before = await service.balance();
      const release = service.engine.holdBefore(1);
      const first = await begin(service, {}, { format });
      await first.expect('ready');
      sayAll(first);
      await first.until('audio');
      first.socket.terminate();
      await stateIs(service, 'failed_retryable');
      release();

      const second = await begin(service, { retryFailed: true }, { format });
      await second.expect('ready');
      sayAll(second);
      second.send({ event: 'stop' });
      const messages = await second.until('finish');
      expect(messages.at(-1)).toMatchObject({ reason: 'completed' });
      expect(second.audio.equals(whole.audio)).toBe(true);
      const numbers = second.messages.flatMap(({ event, sequence }) =>
        event === 'audio' ? [Number(sequence)] : [],
      );
      expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
      const { credits, quota } = await service.balance();
      expect(before.credits - credits).toBe(CHARACTERS);
      expect(before.quota - quota).toBe(CHARACTERS);
    },
  );

  test('continues the audio numbers of the request after the completed segments', async () => {
    const service = await realtimeService();
    const first = await begin(service);
    await first.expect('ready');
    say(first, 0);
    await first.until('segment_completed');
    const last = first.messages.findLast(({ event }) => event === 'audio')?.['sequence'];
    first.socket.terminate();
    await stateIs(service, 'failed_retryable');
    const second = await begin(service, { retryFailed: true });
    await second.expect('ready');
    say(second, 1);
    const audio = (await second.until('audio')).at(-1);
    expect(audio?.['sequence']).toBe(Number(last) + 1);
    expect(second.audio.subarray(0, 4).toString('latin1')).not.toBe('RIFF');
  });

  test('keeps the charge of what was begun, gives back what only waited, and charges nothing twice', async () => {
    const service = await realtimeService();
    const before = await service.balance();
    service.engine.holdBefore(1);
    const client = await begin(service);
    await client.expect('ready');
    sayAll(client);
    await client.until('audio');
    await expect
      .poll(async () => (await service.balance()).credits)
      .toBe(before.credits - CHARACTERS);
    client.socket.terminate();
    await stateIs(service, 'failed_retryable');
    const [text = ''] = TEXTS;
    expect(before.credits - (await service.balance()).credits).toBe(text.length);
    expect(await statusOf(service)).toMatchObject({ units: text.length, resultAvailable: false });
  });

  test('is given back by the next process when its own was killed, and spoken for one charge', async () => {
    const first = await realtimeService();
    first.engine.holdBefore(1);
    const client = await begin(first);
    await client.expect('ready');
    sayAll(client);
    await client.until('audio');
    const second = await realtimeService({ store: first.store, processes: seeing('dead') });
    expect((await second.balance()).credits).toBe(1_000_000);
    expect(await statusOf(second)).toMatchObject({ state: 'failed_retryable', units: 0 });
    const again = await begin(second, { retryFailed: true });
    await again.expect('ready');
    sayAll(again);
    again.send({ event: 'stop' });
    await again.until('finish');
    expect((await second.balance()).credits).toBe(1_000_000 - CHARACTERS);
    client.socket.terminate();
    await client.ended();
    expect((await second.balance()).credits).toBe(1_000_000 - CHARACTERS);
  });

  test('is left to its own process while that lives', async () => {
    const first = await realtimeService();
    const client = await begin(first);
    await client.expect('ready');
    const second = await realtimeService({ store: first.store, processes: seeing('alive') });
    const again = await begin(second, { retryFailed: true });
    await again.expect('request_status', { state: 'running' });
    expect(await again.ended()).toMatchObject({ code: 1000 });
  });
});

describe.each(VERSIONS)('a simple request of %s whose line broke', (version) => {
  test.each([0, 1])('before chunk %i', async (chunk) => {
    const service = await realtimeService();
    const before = await service.balance();
    service.engine.holdBefore(chunk);
    const client = await service.connect(version);
    await client.expect('authenticated');
    const request = plainRequest(version, { format: 'wav' });
    client.send({ event: 'start', requestId: 'r', request });
    await client.expect('ready');
    client.send({ event: 'input', text: 'One. Two.' });
    if (chunk === 0) await expect.poll(service.engine.speaking).toBe(1);
    else await client.until('audio');
    client.socket.terminate();
    // Nothing was heard: as if it had never been asked for. Something was: it is paid for.
    if (chunk === 0) {
      await expect.poll(() => statusCode(service)).toBe(404);
      expect(await service.balance()).toEqual(before);
    } else {
      await stateIs(service, 'failed_terminal');
      expect(await statusOf(service)).toMatchObject({ units: 9, retryable: false });
      expect((await service.balance()).credits).toBe(before.credits - 9);
    }
  });
});

test('of two connections with the same request one speaks, and the other gets the status', async () => {
  const service = await realtimeService();
  const clients = await Promise.all([service.connect('v3'), service.connect('v3')]);
  for (const client of clients) {
    await client.expect('authenticated');
    const request = plainRequest('v3');
    client.send({ event: 'start', mode: 'reliable', requestId: 'r', request });
  }
  const answers = await Promise.all(clients.map(async (client) => client.next()));
  expect(answers.map(({ event }) => event).sort()).toEqual(['ready', 'request_status']);
});

test('the same text gives the same mp3, so that clients can skip audio that was heard', async () => {
  const service = await realtimeService();
  const speak = async (requestId: string): Promise<Buffer> => {
    const client = await service.connect('v3');
    await client.expect('authenticated');
    const request = plainRequest('v3');
    client.send({ event: 'start', mode: 'reliable', requestId, request });
    await client.expect('ready');
    sayAll(client);
    client.send({ event: 'stop' });
    await client.until('finish');
    return client.audio;
  };
  const [first, ...others] = await Promise.all([speak('a'), speak('b'), speak('c')]);
  expect(first?.length).toBeGreaterThan(1_000);
  for (const other of [...others, await speak('d')]) expect(other).toEqual(first);
});

test('stored audio is removed after a day when a service begins, and what is known of the request stays', async () => {
  const service = await realtimeService();
  const client = await service.connect('v3');
  await client.expect('authenticated');
  const request = plainRequest('v3');
  client.send({ event: 'start', mode: 'reliable', requestId: 'r', request });
  await client.expect('ready');
  say(client, 0);
  client.send({ event: 'stop' });
  await client.until('finish');
  const audio = '/v3/tts/requests/r/segments/s1/audio';
  expect((await service.call(audio)).status).toBe(200);
  service.clock.advance(24 * 3_600_000 + 1);
  const next = await realtimeService({ store: service.store, clock: service.clock });
  await expect.poll(() => keptUntil(service)).toBeNull();
  expect((await next.call(audio)).status).toBe(404);
  expect(await statusOf(next)).toMatchObject({ state: 'completed', units: 9 });
});

test('stored audio is deleted after a day, also by a service that keeps running', async () => {
  const service = await realtimeService();
  const spoken = async (requestId: string): Promise<void> => {
    const client = await service.connect('v3');
    await client.expect('authenticated');
    const request = plainRequest('v3');
    client.send({ event: 'start', mode: 'reliable', requestId, request });
    await client.expect('ready');
    say(client, 0);
    client.send({ event: 'stop' });
    await client.until('finish');
  };
  await spoken('r');
  service.clock.advance(24 * 3_600_000 + 1);
  await spoken('later');
  await expect.poll(() => keptUntil(service)).toBeNull();
});

test('audio of a request that is taken up again after a day is not removed under it', async () => {
  const service = await realtimeService();
  const client = await service.connect('v3');
  await client.expect('authenticated');
  const start = { event: 'start', mode: 'reliable', requestId: 'r', request: plainRequest('v3') };
  client.send(start);
  await client.expect('ready');
  say(client, 0);
  await client.until('segment_completed');
  client.socket.terminate();
  await stateIs(service, 'failed_retryable');
  service.clock.advance(24 * 3_600_000 + 1);
  const again = await service.connect('v3');
  await again.expect('authenticated');
  again.send({ ...start, retryFailed: true });
  await again.expect('ready');
  say(again, 0);
  await again.until('segment_completed');
  say(again, 1);
  await again.until('segment_completed');
  expect((await service.call('/v3/tts/requests/r/segments/s1/audio')).status).toBe(200);
});

function say(client: RawRealtimeClient, index: number): void {
  client.send({ event: 'text', sequence: index + 1, text: TEXTS[index] });
  client.send({ event: 'flush', segmentId: `s${index + 1}` });
}

function sayAll(client: RawRealtimeClient): void {
  for (const index of TEXTS.keys()) say(client, index);
}

async function statusOf({ call }: RealtimeService): Promise<unknown> {
  return (await call('/v3/tts/requests/r')).json();
}

async function statusCode({ call }: RealtimeService): Promise<number> {
  return (await call('/v3/tts/requests/r')).status;
}

async function stateIs(service: RealtimeService, state: string): Promise<void> {
  await expect.poll(async () => Object(await statusOf(service)).state).toBe(state);
}

function keptUntil({ store }: RealtimeService): unknown {
  const row = store.read((db) =>
    db.get("SELECT stored_until FROM realtime_request WHERE request_id = 'r'"),
  );
  return row?.['stored_until'];
}

/** Sees every other process as this says. */
function seeing(liveness: Liveness): Processes {
  return { self: systemProcesses().self, liveness: () => liveness };
}
