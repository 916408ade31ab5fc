import { describe, expect, test } from 'vitest';
import { VERSIONS } from '../../realtime/messages.ts';
import { connectRealtime, HandshakeRefused } from '../../realtime/raw-client.ts';
import SEQUENCES from '../../realtime/sequences.json' with { type: 'json' };
import type { Message } from '../../realtime/wire-names.ts';
import { KEY } from '../support/test-service.ts';
import { plainRequest, realtimeService } from './realtime-service.ts';

/**
 * Messages of a client that the embedded service meets, on one connection. The outcome is the events of the replies,
 * with one word for all audio messages in a row, and the number of billed units. `request` stands for the fields
 * `voiceId` and `modelId`.
 */
const CLIENT_MESSAGES: readonly (readonly [
  name: string,
  messages: readonly Message[],
  events: string,
  units: number,
])[] = SEQUENCES.clientMessages.map(({ name, messages, events, units }) => [
  name,
  messages,
  events,
  units,
]);

/** Origins in the handshake of a client, and the status of the response. `own` is the address of the service. */
const ORIGINS: readonly (readonly [origin: string | undefined, hasKey: boolean, status: number])[] =
  [
    [undefined, true, 101],
    ['http://own', true, 101],
    ['https://own', true, 101],
    ['http://own', false, 403],
    ['http://own.evil.example', true, 403],
    ['http://127.0.0.1', true, 403],
    ['https://evil.example', true, 403],
    ['null', true, 403],
  ];

describe.each(VERSIONS)('the service on %s', (version) => {
  test.each(CLIENT_MESSAGES)('accepts %s', async (_name, messages, events, units) => {
    const { balance, connect } = await realtimeService();
    const before = await balance();
    const client = await connect(version);
    for (const message of messages) {
      const { request } = message;
      const fields =
        request === undefined ? {} : { request: plainRequest(version, Object(request)) };
      client.send({ ...message, ...fields });
    }
    const replies = await client.until('finish');
    expect(eventsOf(replies)).toBe(events);
    expect(before.credits - (await balance()).credits).toBe(units);
  });

  test.each(ORIGINS)(
    'from the origin %s with a key (%s): status %i',
    async (origin, hasKey, status) => {
      const { baseUrl } = await realtimeService();
      const own = new URL(baseUrl).host;
      const options = {
        version,
        baseUrl,
        ...(hasKey ? { key: KEY } : {}),
        ...(origin === undefined ? {} : { origin: origin.replace('own', own) }),
      };
      const got = await connectRealtime(options).then(
        async (client) => (await client.expect('authenticated')) && 101,
        (error: unknown) => (error instanceof HandshakeRefused ? error.refusal.status : error),
      );
      expect(got).toBe(status);
    },
  );

  test.each([
    ['defaults', { format: 'mp3', speed: 1, volume: 0 }],
    ['null', { format: null, speed: null, language: null }],
  ])('knows a request again that is repeated with %s', async (_name, explicit) => {
    const { balance, connect } = await realtimeService();
    const first = await connect(version);
    const start = { event: 'start', requestId: 'again' };
    first.send({ ...start, request: plainRequest(version) });
    first.send({ event: 'input', text: 'One.' });
    const replies = await first.until('finish');
    const spoken = replies.filter(({ event }) => event === 'audio' || event === 'usage');
    // In simple mode, the whole input is one segment.
    expect(new Set(spoken.map(({ segmentId }) => segmentId))).toEqual(new Set(['input']));
    const { credits } = await balance();
    const second = await connect(version);
    second.send({ ...start, request: plainRequest(version, explicit) });
    expect((await second.until('request_status')).at(-1)).toMatchObject({ state: 'completed' });
    expect((await balance()).credits).toBe(credits);
    const other = await connect(version);
    other.send({ ...start, request: plainRequest(version, { speed: 1.2 }) });
    expect((await other.until('error')).at(-1)).toMatchObject({ code: 'idempotency_conflict' });
  });
});

test('v2 without a profile knows a request again too', async () => {
  const { connect } = await realtimeService();
  const request = plainRequest('v2', { parameterProfile: undefined });
  for (const [explicit, event] of [
    [{}, 'ready'],
    [{ parameterProfile: 'legacy', format: 'mp3', speed: 1, volume: 1 }, 'request_status'],
    [{ parameterProfile: null, volume: null }, 'request_status'],
    [{ volume: 2 }, 'error'],
  ] as const) {
    const client = await connect('v2');
    client.send({ event: 'start', requestId: 'again', request: { ...request, ...explicit } });
    expect((await client.until(event)).at(-1)).toMatchObject({ event });
    if (event !== 'ready') continue;
    client.send({ event: 'input', text: 'One.' });
    await client.until('finish');
  }
});

function eventsOf(messages: readonly Message[]): string {
  const events = messages.map(({ event }) => event);
  return events.filter((event, at) => event !== 'audio' || events[at - 1] !== 'audio').join(' ');
}
