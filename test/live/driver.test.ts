import { encode } from '@msgpack/msgpack';
import { expect, test } from 'vitest';
import { newConversation } from '../../src/live/state.ts';
import { close, expectMessage, fail, send, serve } from '../realtime/script.ts';
import { startScriptedServer } from '../realtime/scripted-server.ts';
import { spokenAudio } from '../realtime/segment-audio.ts';
import { driven, speak } from './driven.ts';
import { RELIABLE, SIMPLE } from './simulation.ts';

const TEXTS = Array.from({ length: 10 }, (_none, index) => `Number ${index}.`);
const UNDISTURBED = spokenAudio(TEXTS, 'pcm');
test.each([
  [401, 'auth'],
  [402, 'credits'],
  [403, 'auth'],
  [404, 'rejected'],
  [426, 'rejected'],
  [429, 'rateLimited'],
  [501, 'service'],
  [503, 'service'],
])('a handshake refused with %i ends with %s', async (status, exit) => {
  const refuse = { status, headers: { 'Retry-After': '0' } };
  const server = await startScriptedServer({ connections: [{ refuse }] });
  const { failure } = await speak(server, TEXTS, { maxRetries: 0 });
  expect(failure).toMatchObject({ exit, status, billed: 'no' });
});

test.each([
  [408, 2],
  [425, 2],
  [429, 2],
  [500, 2],
  [503, 2],
  [400, 1],
  [401, 1],
  [501, 1],
])('a handshake refused with %i takes %i attempts', async (status, attempts) => {
  const server = await startScriptedServer({ connections: [{ refuse: { status } }] });
  await speak(server, TEXTS);
  expect(server.handshakes).toHaveLength(attempts);
});

test.each([
  [1000, 'badAnswer'],
  [1001, 'badAnswer'],
  [1008, 'auth'],
  [1009, 'badAnswer'],
  [1011, 'service'],
  [1012, 'service'],
  [1013, 'service'],
  [4000, 'badAnswer'],
])('a close with %i and no error event ends with %s', async (code, exit) => {
  const steps = [send('authenticated'), expectMessage('start'), close(code)];
  const server = await startScriptedServer({ connections: [{ steps }] });
  const { failure } = await speak(server, TEXTS, { maxRetries: 0 });
  expect(failure?.exit).toBe(exit);
});

test('an error event is reported with its message', async () => {
  const steps = [send('authenticated'), expectMessage('start'), ...fail('quota_exceeded', 1008)];
  const server = await startScriptedServer({ connections: [{ steps }] });
  const { failure } = await speak(server, TEXTS);
  expect(failure).toMatchObject({
    exit: 'credits',
    code: 'quota_exceeded',
    message: 'The script fails with quota_exceeded. (quota_exceeded)',
  });
});

test.each([1, 3, 64])('messages in fragments of %i bytes are joined', async (size) => {
  const common = {
    requestId: 'request-1',
    sessionId: 's',
    eventId: 'e',
    traceId: 't',
    timestamp: 1,
  };
  const samples = { sampleRate: 24_000, channels: 1, bitDepth: 16 };
  const audio = [1, 2, 3].map((sequence) => ({
    kind: 'fragments' as const,
    size,
    message: {
      event: 'audio',
      ...common,
      segmentId: 's1',
      sequence,
      audio: Buffer.alloc(50, sequence),
      format: 'pcm',
      ...samples,
    },
  }));
  const steps = [
    send('authenticated'),
    expectMessage('start'),
    send('ready', samples),
    ...['text', 'flush'].map((event) => expectMessage(event)),
    send('segment_accepted', { segmentId: 's1' }),
    ...audio,
    send('segment_completed', { segmentId: 's1', audioBytes: 150 }),
    expectMessage('stop'),
    send('finish', { reason: 'completed', units: 1 }),
    close(1000),
  ];
  const server = await startScriptedServer({ connections: [{ steps }] });
  const { audio: heard, failure } = await speak(server, ['One.']);
  expect(failure).toBeUndefined();
  expect(heard.equals(Buffer.concat([1, 2, 3].map((byte) => Buffer.alloc(50, byte))))).toBe(true);
});

test('an unknown event is ignored in every phase', async () => {
  const unknown = { kind: 'sendBytes', bytes: encode({ event: 'news', of: 'tomorrow' }) } as const;
  const places = ['authenticated', 'ready', 'audio', 'segment_completed', 'finish'];
  const faults = places.map(
    (event) => ({ on: 'sent', event, number: 1, when: 'before', steps: [unknown] }) as const,
  );
  const server = await startScriptedServer({ connections: [{ steps: [serve({ faults })] }] });
  const { audio, failure } = await speak(server, TEXTS);
  expect(failure).toBeUndefined();
  expect(audio.equals(UNDISTURBED)).toBe(true);
});

test('notices arrive in order', async () => {
  const server = await startScriptedServer();
  const { notices } = await speak(server, TEXTS.slice(0, 2));
  const names = notices.map((one) => (one.type === 'notice' ? one.message.event : one.type));
  const ofSegment = ['usage', 'segment_completed'];
  expect(names).toEqual(['ready', ...ofSegment, ...ofSegment, 'finish']);
});

test('text waits until the queue drains', async () => {
  const steps = [{ kind: 'pause' } as const];
  const faults = [{ on: 'sent', event: 'audio', number: 1, when: 'before', steps } as const];
  const server = await startScriptedServer({ connections: [{ steps: [serve({ faults })] }] });
  const { close: end, conversation } = driven(server);
  conversation.begin();
  let taken = 0;
  const saying = (async () => {
    for (const text of Array.from({ length: 300 }, (_none, index) => `Number ${index}.`)) {
      await conversation.say(text);
      taken += 1;
    }
    conversation.finish();
  })();
  await server.gate.paused();
  expect(taken).toBeLessThan(200);
  await server.gate.advance();
  let size = 0;
  for await (const { length } of conversation.audio) size += length;
  await saying;
  await end();
  expect([taken, size]).toEqual([300, 300 * 3 * 800]);
});

test('a slow reader pauses the socket and loses nothing', async () => {
  const shape = { framesPerSegment: 200, frameBytes: 60_000 };
  const server = await startScriptedServer({ audio: shape });
  const { close: end, conversation } = driven(server);
  conversation.begin();
  await conversation.say('One.');
  await conversation.say('Two.');
  conversation.finish();
  const connection = await server.connected();
  await connection.receivedMessage('flush', 2);
  const parts: Uint8Array[] = [];
  for await (const part of conversation.audio) {
    parts.push(part);
    // One turn of the event loop per chunk: the service is faster.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await end();
  expect(Buffer.concat(parts).equals(spokenAudio(['One.', 'Two.'], 'pcm', shape))).toBe(true);
});

test('stopping it ends both sides', async () => {
  const server = await startScriptedServer();
  const { close: end, conversation } = driven(server, { mode: 'simple' });
  conversation.begin();
  await conversation.say('One.');
  const connection = await server.connected();
  await connection.receivedMessage('start');
  conversation.stop(new Error('enough'));
  await expect(conversation.audio[Symbol.asyncIterator]().next()).rejects.toThrow('enough');
  await connection.gone;
  await end();
  expect(connection.ending).toMatchObject({ code: 1000 });
});

test('a conversation that did not begin keeps no timer', () => {
  for (const plan of [RELIABLE, SIMPLE]) expect(newConversation(plan).timers).toEqual([]);
});
