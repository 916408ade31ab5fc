import { describe, expect, test } from 'vitest';
import { request } from 'undici';
import { MODES, VERSIONS } from './messages.ts';
import { connectRealtime, refusedHandshake } from './raw-client.ts';
import type { RawRealtimeClient } from './raw-client.ts';
import { drop, serve } from './script.ts';
import { startScriptedServer } from './scripted-server.ts';
import { spokenAudio } from './segment-audio.ts';
import { askTicket, ticketIn } from './ticket-request.ts';
import { wireName } from './wire-names.ts';

const REQUEST = { voiceId: 'voice-1', modelId: 'vendor-s21pro-flash' };
const reliable = (more: object = {}) => ({
  event: 'start',
  mode: 'reliable',
  requestId: 'request-1',
  request: REQUEST,
  ...more,
});

/** Sends a text as a segment, and waits until it is completed. */
async function say(client: RawRealtimeClient, number: number, text: string): Promise<void> {
  client.send({ event: 'text', sequence: number, text });
  await client.expect('input_ack');
  client.send({ event: 'flush', segmentId: `s${number}` });
  await client.until('segment_completed');
}

describe.each(VERSIONS)('%s', (version) => {
  test('simple: inputs are one text, spoken after the last one commits', async () => {
    const server = await startScriptedServer();
    const client = await connectRealtime({ version, baseUrl: server.baseUrl, key: server.key });
    await client.expect('authenticated', { protocolVersion: version });
    const start = client.send({ event: 'start', request: REQUEST });
    const ready = await client.expect('ready', { inReplyTo: start.eventId, format: 'mp3' });
    client.send({ event: 'input', text: 'Hello, ', commit: false });
    client.send({ event: 'input', text: 'wörld.' });
    const spoken = await client.until('finish');
    expect(spoken.map(({ event }) => event)).toStrictEqual(['audio', 'audio', 'audio', 'finish']);
    expect(spoken.at(-1)).toMatchObject({ reason: 'completed', units: 13 });
    expect(await client.ended()).toStrictEqual({ kind: 'closed', code: 1000, reason: '' });
    expect(client.audio.equals(spokenAudio(['Hello, wörld.']))).toBe(true);
    expect(client.audio.equals(server.book.audioOf(String(ready['requestId'])))).toBe(true);
    expect(server.book.charges).toMatchObject([{ text: 'Hello, wörld.', units: 13 }]);
  });

  test('reliable: after a dropped connection nothing is billed twice, and every byte arrives once', async () => {
    const server = await startScriptedServer({
      connections: [{ steps: [serve({ faults: [afterFirstAudioOfSecond] })] }],
    });
    const first = await connectRealtime({ version, baseUrl: server.baseUrl, key: server.key });
    await first.expect('authenticated');
    first.send(reliable());
    await first.expect('ready', { mode: 'reliable' });
    await say(first, 1, 'One.');
    first.send({ event: 'text', sequence: 2, text: 'Two.' });
    first.send({ event: 'flush', segmentId: 's2' });
    expect(await first.ended()).toStrictEqual({ kind: 'dropped' });
    const heard = first.messages.filter(({ event }) => event === 'audio');
    expect(heard.map(({ sequence }) => sequence)).toStrictEqual([1, 2, 3, 4]);

    const asking = await connectRealtime({ version, baseUrl: server.baseUrl, key: server.key });
    await asking.expect('authenticated');
    asking.send(reliable());
    const status = await asking.expect('request_status', { state: 'failed_retryable' });
    expect(status).toMatchObject({ retryable: true, resultAvailable: true, units: 8 });
    expect(status['segments']).toMatchObject([{ segmentId: 's1', sequence: 1 }]);

    const again = await connectRealtime({ version, baseUrl: server.baseUrl, key: server.key });
    await again.expect('authenticated');
    again.send(reliable({ retryFailed: true }));
    await again.expect('ready');
    await say(again, 2, 'Two.');
    await say(again, 3, 'Three.');
    again.send({ event: 'stop' });
    await again.expect('finish', { reason: 'completed', units: 14 });
    const bySequence = new Map(
      [...first.messages, ...again.messages]
        .filter(({ event }) => event === 'audio')
        .map(({ sequence, audio }) => [sequence, audio]),
    );
    expect([...bySequence.keys()]).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(Buffer.concat([...bySequence.values()].map(asBytes))).toStrictEqual(
      server.book.audioOf('request-1'),
    );
    expect(server.book.charges.map(({ text }) => text)).toStrictEqual(['One.', 'Two.', 'Three.']);
  });

  test('browser ticket: opens one connection from its origin', async () => {
    const server = await startScriptedServer();
    const { baseUrl, key } = server;
    const origin = 'https://page.test';
    const answer = await askTicket({ baseUrl, version, key, origin });
    expect(answer.status).toBe(200);
    const ticket = ticketIn(answer);
    const client = await connectRealtime({ version, baseUrl, origin });
    client.send({ event: 'auth', token: ticket });
    await client.expect('authenticated');
    client.send({ event: 'start', request: REQUEST });
    await client.expect('ready');
    client.send({ event: 'input', text: 'From a page.' });
    await client.until('finish');
    expect(client.audio.equals(spokenAudio(['From a page.']))).toBe(true);

    const strange = ticketIn(await askTicket({ baseUrl, version, key, origin }));
    for (const [from, token] of [
      [origin, ticket],
      ['https://other.test', strange],
    ] as const) {
      const refused = await connectRealtime({ version, baseUrl, origin: from });
      refused.send({ event: 'auth', token });
      await refused.expect('error', { code: 'authentication_failed', terminal: true });
      expect(await refused.ended()).toMatchObject({ kind: 'closed', code: 1008 });
    }
  });

  test('the status of a request is available over HTTP', async () => {
    const server = await startScriptedServer({ interrupted: 'stored' });
    const { baseUrl, key } = server;
    const client = await connectRealtime({ version, baseUrl, key });
    client.send(reliable());
    client.send({ event: 'text', sequence: 1, text: 'One.' });
    client.send({ event: 'flush', segmentId: 's1' });
    await client.until('segment_completed');
    const headers = { Authorization: `Bearer ${key}` };
    const ask = async (path: string, given: object = headers) =>
      request(`${baseUrl}/${version}/tts/${path}`, { headers: { ...given } });
    const status = await (await ask('requests/request-1')).body.json();
    expect(status).toMatchObject({
      state: 'running',
      [wireName(version, 'resultAvailable')]: true,
    });
    expect((await ask('requests/request-2')).statusCode).toBe(404);
    expect((await ask('requests/request-1', {})).statusCode).toBe(401);
    expect((await ask('capabilities')).statusCode).toBe(200);
    const audio = await ask('requests/request-1/segments/s1/audio');
    expect(audio.statusCode).toBe(version === 'v3' ? 200 : 404);
    const bytes = Buffer.from(await audio.body.arrayBuffer());
    expect(bytes.equals(spokenAudio(['One.']))).toBe(version === 'v3');
    expect(server.book.charges).toHaveLength(1);
  });
});

describe.each(VERSIONS)('a handshake of %s', (version) => {
  test.each([401, 403, 429, 501, 503])('can be refused with %i', async (status) => {
    const refuse = { status, headers: { 'Retry-After': '7' } };
    const server = await startScriptedServer({ connections: [{ refuse }] });
    const { baseUrl, key } = server;
    const refusal = await refusedHandshake({ version, baseUrl, key });
    expect(refusal).toMatchObject({ status, headers: { 'retry-after': '7' } });
    expect(JSON.parse(refusal.body)).toHaveProperty('requestId');
    const client = await connectRealtime({ version, baseUrl, key });
    await client.expect('authenticated');
    expect([server.handshakes.length, server.connections.length]).toStrictEqual([2, 1]);
  });

  test('is refused before 101 if it is invalid', async () => {
    const { baseUrl, key } = await startScriptedServer();
    const live = `/${version}/tts/live`;
    const wrong = [
      [{ key: 'another' }, 401],
      [{ key, subprotocols: [] }, 400],
      [{ key, subprotocols: ['realtime.tts.msgpack.v1'] }, 400],
      [{ key, path: `${live}?token=${key}` }, 400],
      [{ path: `${live}?api_key=${key}` }, 400],
      [{ key, path: '/v1/tts/live' }, 501],
      [{ key, path: '/v4/tts/live' }, 404],
    ] as const;
    for (const [options, status] of wrong) {
      expect(await refusedHandshake({ version, baseUrl, ...options })).toMatchObject({ status });
    }
  });

  test('can be left without a response, or dropped', async () => {
    const server = await startScriptedServer({
      connections: [{ handshake: 'unanswered' }, { handshake: 'dropped' }],
    });
    const { baseUrl, key } = server;
    const options = { version, baseUrl, key, handshakeTimeoutMs: 50 };
    await expect(connectRealtime(options)).rejects.toThrow(/timed out/);
    await expect(connectRealtime({ version, baseUrl, key })).rejects.toThrow(/hang up/);
    expect(server.handshakes).toHaveLength(2);
  });

  test('with another subprotocol in the response does not open', async () => {
    const server = await startScriptedServer({ connections: [{ subprotocol: 'other' }] });
    const { baseUrl, key } = server;
    await expect(connectRealtime({ version, baseUrl, key })).rejects.toThrow(/subprotocol/);
  });
});

test.each(MODES)('key and messages are recorded unchanged: %s', async (mode) => {
  const server = await startScriptedServer();
  const client = await connectRealtime({
    version: 'v2',
    baseUrl: server.baseUrl,
    key: server.key,
    headers: { 'X-Test': mode },
  });
  client.send(reliable({ mode }));
  await client.until('ready');
  const connection = await server.connected();
  expect(connection.handshake.headers).toMatchObject({ 'x-test': mode });
  expect(connection.messages).toMatchObject([{ mode, request: REQUEST }]);
  expect(client.sent[0]?.wire).toMatchObject({
    request_id: 'request-1',
    request: { model: REQUEST.modelId },
  });
});

const afterFirstAudioOfSecond = {
  on: 'sent',
  event: 'audio',
  number: 4,
  when: 'after',
  steps: [drop()],
} as const;

function asBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.alloc(0);
}
