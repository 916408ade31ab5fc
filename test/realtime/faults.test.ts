import { describe, expect, test } from 'vitest';
import { encode } from '@msgpack/msgpack';
import { encodeFrame } from './frames.ts';
import { connectRealtime } from './raw-client.ts';
import type { ClientOptions, RawRealtimeClient } from './raw-client.ts';
import { close, drop, expectMessage, fail, send, serve } from './script.ts';
import type { ServerScript, Step } from './script.ts';
import { startScriptedServer } from './scripted-server.ts';
import type { ScriptedServer } from './scripted-server.ts';

const START = {
  event: 'start',
  mode: 'reliable',
  requestId: 'request-1',
  request: { voiceId: 'voice-1', modelId: 'model-1' },
};
const GIANT = 100_000_000;
const FRAMES = 30;

async function meet(
  script: ServerScript | readonly Step[] = {},
  options: Partial<ClientOptions> = {},
): Promise<{ server: ScriptedServer; client: RawRealtimeClient }> {
  const isScript = (given: typeof script): given is ServerScript => !Array.isArray(given);
  const whole = isScript(script) ? script : { connections: [{ steps: script }] };
  const server = await startScriptedServer(whole);
  const { baseUrl, key } = server;
  const client = await connectRealtime({ version: 'v3', baseUrl, key, ...options });
  return { server, client };
}

async function speak(client: RawRealtimeClient): Promise<void> {
  client.send(START);
  client.send({ event: 'text', sequence: 1, text: 'One.' });
  client.send({ event: 'flush', segmentId: 's1' });
}

describe('the scripted server', () => {
  test.each([1000, 1008, 1011, 1012, 1013])('closes with %i', async (code) => {
    const { client } = await meet([send('authenticated'), close(code, 'why')]);
    await client.expect('authenticated');
    expect(await client.ended()).toStrictEqual({ kind: 'closed', code, reason: 'why' });
  });

  test('drops the connection', async () => {
    const { client } = await meet([send('authenticated'), { kind: 'reset' }]);
    expect(await client.ended()).toStrictEqual({ kind: 'dropped' });
    await client.expect('authenticated');
  });

  test('repeats, omits and reorders audio', async () => {
    const tamper = [
      { kind: 'swap', sequence: 1 },
      { kind: 'skip', sequence: 3 },
      { kind: 'duplicate', sequence: 5 },
    ] as const;
    const { client } = await meet({
      audio: { framesPerSegment: 6 },
      connections: [{ steps: [serve({ tamper })] }],
    });
    await speak(client);
    const audio = (await client.until('segment_completed')).filter(
      ({ event }) => event === 'audio',
    );
    expect(audio.map(({ sequence }) => sequence)).toStrictEqual([2, 1, 4, 5, 5, 6]);
  });

  test('plays a script exactly, and anything else fails the test', async () => {
    const { client, server } = await meet([
      send('authenticated'),
      expectMessage('start', { mode: 'reliable' }),
      send('ready'),
      expectMessage('text', { text: 'Two.' }),
    ]);
    await client.expect('authenticated');
    await speak(client);
    await client.expect('ready', { requestId: 'request-1', modelId: 'model-1' });
    expect(await client.ended()).toStrictEqual({ kind: 'dropped' });
    expect(server.takeProblems()).toStrictEqual([
      expect.stringMatching(/expected text .*came text 1/),
    ]);
  });

  test('waits for the test at a pause step', async () => {
    const steps: readonly Step[] = [{ kind: 'pause' }];
    const faults = [{ on: 'sent', event: 'audio', number: 2, when: 'before', steps } as const];
    const { client, server } = await meet([serve({ faults })]);
    await speak(client);
    await server.gate.paused();
    await client.arrived(
      (entry) => entry.kind === 'message' && entry.message.event === 'audio',
      'audio',
    );
    expect(client.messages.filter(({ event }) => event === 'audio')).toHaveLength(1);
    expect(await server.gate.advance()).toBe(true);
    await client.until('segment_completed');
    expect(client.audio.equals(server.book.audioOf('request-1'))).toBe(true);
  });

  test('ends with the error of its script', async () => {
    const steps = fail('server_draining', 1012, { retryable: true });
    const { client } = await meet([send('authenticated'), ...steps]);
    await client.until('error');
    expect(await client.ended()).toMatchObject({ code: 1012 });
  });

  test('sends invalid bytes and text', async () => {
    const { client } = await meet([
      { kind: 'sendBytes', bytes: Uint8Array.of(0xc1, 0xff) },
      { kind: 'sendBytes', bytes: encode([1, 2]) },
      { kind: 'sendText', text: '{"event":"ready"}' },
      close(1000),
    ]);
    await client.ended();
    expect(client.journal.map(({ kind }) => kind)).toStrictEqual([
      'unreadable',
      'unreadable',
      'text',
    ]);
    await expect(client.expect('ready')).rejects.toThrow(/2 unreadable bytes/);
  });

  test('sends a message in fragments, and endless fragments', async () => {
    const message = {
      event: 'warning',
      code: 'a',
      message: 'b',
      eventId: 'c',
      traceId: 'd',
      timestamp: 1,
    };
    const { client } = await meet([
      { kind: 'fragments', message, size: 3 },
      { kind: 'emptyFragments', count: 20_000 },
      drop(),
    ]);
    expect(await client.expect('warning')).toStrictEqual(message);
    expect(await client.ended()).toStrictEqual({ kind: 'dropped' });
    expect(client.journal).toHaveLength(1);
  });

  test('sends a frame of 100 MB', async () => {
    const { client } = await meet([{ kind: 'giant', length: GIANT }, close(1000)]);
    await client.ended();
    const [entry] = client.journal;
    expect(entry?.kind === 'unreadable' && entry.bytes.byteLength).toBe(GIANT);
  });

  test('is silent until the client disconnects, and may ignore pings', async () => {
    const { client, server } = await meet([send('authenticated'), { kind: 'silence' }]);
    await client.expect('authenticated');
    client.socket.ping();
    client.send(START);
    client.socket.close(1000);
    client.socket.terminate();
    const connection = await server.connected();
    await connection.gone;
    expect(connection.received).toStrictEqual([]);
    expect(client.journal).toHaveLength(1);
  });

  test('pings', async () => {
    const { client } = await meet([{ kind: 'ping' }, serve()]);
    await client.arrived(({ kind }) => kind === 'ping', 'a ping');
    await client.expect('authenticated');
  });
});

describe('the raw client', () => {
  test('reports what did not arrive', async () => {
    const { client } = await meet({}, { timeoutMs: 50 });
    await client.expect('authenticated');
    await expect(client.expect('ready')).rejects.toThrow(
      'Waited for ready: not within 50 ms. So far: authenticated.',
    );
  });

  test('reports another message, or the end of the connection', async () => {
    const { client } = await meet([
      send('authenticated'),
      send('authenticated'),
      close(1013, 'later'),
    ]);
    await expect(client.expect('ready')).rejects.toThrow('Expected ready {}; came authenticated');
    await expect(client.expect('authenticated', { site: 'x' })).rejects.toThrow(/"site":"x"/);
    await expect(client.expect('ready')).rejects.toThrow(/1013/);
  });

  test('rejects messages that violate the tables', async () => {
    const { client } = await meet([
      { kind: 'sendBytes', bytes: encode({ event: 'finish', reason: 'x' }) },
      close(1000),
    ]);
    await expect(client.expect('finish')).rejects.toThrow(
      /requestId is missing.*reason is out of bounds/,
    );
    await client.ended();
    expect(client.messages).toMatchObject([{ event: 'finish', reason: 'x' }]);
  });

  test.each([
    ['text', (client: RawRealtimeClient) => client.socket.send('{}'), 'invalid_message'],
    [
      'garbage',
      (client: RawRealtimeClient) => client.socket.send(Uint8Array.of(0xc1)),
      'invalid_messagepack',
    ],
    ['no map', (client: RawRealtimeClient) => client.sendExactly([1]), 'invalid_messagepack'],
    [
      'a missing field',
      (client: RawRealtimeClient) => client.sendExactly({ event: 'start' }),
      'invalid_message',
    ],
    [
      'a wrong time',
      (client: RawRealtimeClient) => client.send({ event: 'stop' }),
      'invalid_state',
    ],
  ])('sends invalid messages: %s', async (_name, misbehave, code) => {
    const { client, server } = await meet();
    await client.expect('authenticated');
    misbehave(client);
    await client.expect('error', { code });
    expect(server.takeProblems()).toHaveLength(code === 'invalid_state' ? 0 : 1);
  });

  test('sends fragments, one message or none', async () => {
    const { client, server } = await meet();
    await client.expect('authenticated');
    expect(await client.sendFragmented({ ...START, eventId: 'e1' }, 1)).toBe(true);
    await client.expect('ready', { inReplyTo: 'e1' }, true);
    expect(await client.sendEmptyFragments(20_000)).toBe(true);
    client.socket.terminate();
    const connection = await server.connected();
    await connection.gone;
    expect(connection.messages).toHaveLength(1);
  });

  test('sends a frame of 100 MB', async () => {
    const { client, server } = await meet();
    expect(await client.sendGiant(GIANT)).toBe(true);
    await client.until('error');
    expect(server.takeProblems()).toHaveLength(1);
  });

  test('violates the WebSocket protocol', async () => {
    const { client } = await meet();
    await client.expect('authenticated');
    await client.sendRaw(encodeFrame(Uint8Array.of(1)));
    expect(await client.ended()).toMatchObject({ kind: 'closed', code: 1002 });
  });

  test('closes only its direction', async () => {
    const { client, server } = await meet();
    await client.expect('authenticated');
    client.halfClose();
    const connection = await server.connected();
    await connection.gone;
    expect(connection.ending).toStrictEqual({ kind: 'dropped' });
  });

  test('stops reading, and resumes', async () => {
    const { client, server } = await meet({
      audio: { framesPerSegment: FRAMES, frameBytes: 1_000_000 },
    });
    await client.expect('authenticated');
    client.socket.pause();
    await speak(client);
    const connection = await server.connected();
    await connection.receivedMessage('flush');
    expect(client.messages).toHaveLength(1);
    const sent = connection.sent.length;
    expect(sent).toBeLessThan(FRAMES);
    client.socket.resume();
    await client.until('segment_completed');
    expect(connection.sent.length).toBeGreaterThan(FRAMES);
    expect(client.audio.equals(server.book.audioOf('request-1'))).toBe(true);
  });
});
