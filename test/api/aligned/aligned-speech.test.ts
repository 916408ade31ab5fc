import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { AlignedResponse } from '../../../src/api/resources/aligned.ts';
import { speakAligned } from '../../../src/api/resources/aligned.ts';
import type { TestClient } from '../new-client.ts';
import { buffer } from 'node:stream/consumers';
import { failureOf, newClient } from '../new-client.ts';
import type { RawServer } from '../raw-server.ts';
import { head, rawServer, reply } from '../raw-server.ts';

const ORDER = { text: 'Hello there', voiceId: 'v-1' };
const STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-request-id': 'srv-1',
  'x-openapi-credits-used': '2',
};

function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

const audio = (text: string): string =>
  eventText('audio', { audioBase64: Buffer.from(text).toString('base64') });
const snapshot = (chunkSeq: number, ...words: readonly unknown[]): string =>
  eventText('alignment_snapshot', { chunkSeq, units: 'milliseconds', words });
const COMPLETED = eventText('completed', {
  requestId: 'srv-2',
  generationId: 'gen-1',
  alignmentStatus: 'complete',
  quotaRemaining: 90,
  creditsUsed: 3,
});
const HELLO = { text: 'Hello', startMs: 0, endMs: 300 };
const THERE = { text: 'there', startMs: 320, endMs: 600 };

interface Fixture extends TestClient {
  readonly server: RawServer;
  readonly answer: () => Promise<AlignedResponse>;
}

async function streamOf(...events: readonly string[]): Promise<Fixture> {
  const server = await rawServer((socket) => socket.end(reply(200, STREAM, events.join(''))));
  const fixture = newClient(server.url);
  const { clock, client } = fixture;
  const idempotencyKey = { value: 'key-1', madeByTool: true };
  const answer = () => speakAligned(client, ORDER, { idempotencyKey, clock, idleTimeoutMs: 1_000 });
  return { ...fixture, server, answer };
}

describe('speech with word times', () => {
  test('yields the audio in order, and the newest times', async () => {
    const late = { ...HELLO, endMs: 310 };
    const { answer, server } = await streamOf(
      snapshot(0, HELLO),
      audio('one '),
      snapshot(1, THERE),
      audio('two'),
      eventText('later_addition', 7),
      snapshot(0, late),
      COMPLETED,
    );
    const speech = await answer();
    expect(speech).toMatchObject({ requestId: 'srv-1', creditsUsed: 2, outcome: undefined });
    expect((await buffer(speech.body)).toString()).toBe('one two');
    expect(speech).toMatchObject({ requestId: 'srv-2', creditsUsed: 3, quotaRemaining: 90 });
    expect(speech.outcome).toEqual({
      words: [late, THERE],
      isComplete: true,
      generationId: 'gen-1',
    });
    expect(server.requests[0]).toMatchObject({
      path: '/api/open/v3/speech/tts/aligned',
      headers: { 'idempotency-key': 'key-1', accept: 'text/event-stream, application/json' },
    });
  });

  test('loses the times of an invalidated chunk, but none of its audio', async () => {
    const { answer } = await streamOf(
      snapshot(0, HELLO),
      audio('one'),
      eventText('alignment_invalidated', { chunkSeq: 0 }),
      eventText('completed', { alignmentStatus: 'partial' }),
    );
    const speech = await answer();
    expect((await buffer(speech.body)).toString()).toBe('one');
    expect(speech.outcome).toMatchObject({ words: [], isComplete: false });
    expect(speech).toMatchObject({ requestId: 'srv-1', creditsUsed: 2 });
  });
});

describe('lost times', () => {
  const done = eventText('completed', { alignmentStatus: 'complete' });
  const gone = eventText('alignment_invalidated', { chunkSeq: 0 });
  const odd: readonly unknown[] = [
    { text: 'there', startMs: 'soon', endMs: 600 },
    { text: 'there', startMs: 320, endMs: 300 },
    { text: 'there', startMs: -1, endMs: 600 },
    { startMs: 320, endMs: 600 },
    null,
  ];

  test.each<[what: string, events: readonly string[], words: readonly object[]]>([
    ['a chunk is invalidated, and has no newer times', [snapshot(0, HELLO), gone], []],
    [
      'an unknown chunk is invalidated',
      [snapshot(0, HELLO), eventText('alignment_invalidated', {})],
      [HELLO],
    ],
    [
      'a snapshot has other units',
      [eventText('alignment_snapshot', { chunkSeq: 0, units: 's', words: [] })],
      [],
    ],
    ['a snapshot has no words', [eventText('alignment_snapshot', { chunkSeq: 0 })], []],
    ['a snapshot is not JSON', ['event: alignment_snapshot\ndata: {\n\n'], []],
    ...odd.map((word): [string, string[], object[]] => [
      `a word is ${JSON.stringify(word)}`,
      [snapshot(0, HELLO, word)],
      [HELLO],
    ]),
  ])('when %s, lose no audio, and the outcome is partial', async (_what, events, words) => {
    const { answer } = await streamOf(audio('one '), ...events, audio('two'), done);
    const speech = await answer();
    expect((await buffer(speech.body)).toString()).toBe('one two');
    expect(speech.outcome).toMatchObject({ words, isComplete: false });
  });

  test.each<[what: string, events: readonly string[]]>([
    ['after they were invalidated', [snapshot(0, HELLO), gone, snapshot(0, THERE)]],
    ['for those that could not be read', [snapshot(0, null), snapshot(0, THERE)]],
  ])('are restored by a newer snapshot %s', async (_what, events) => {
    const { answer } = await streamOf(audio('one'), ...events, done);
    const speech = await answer();
    await buffer(speech.body);
    expect(speech.outcome).toMatchObject({ words: [THERE], isComplete: true });
  });
});

describe('an incomplete stream', () => {
  test.each([
    ['ends without its last event', [audio('one')], 'without a completed event'],
    ['has no audio', [COMPLETED], 'no audio'],
    ['cannot be read', [audio('one'), 'event: audio\ndata: {\n\n', COMPLETED], 'not a JSON object'],
  ])('%s: exit 25, billing unknown', async (_name, events, problem) => {
    const { answer } = await streamOf(...events);
    const speech = await answer();
    const failure = await failureOf(buffer(speech.body));
    expect(failure).toMatchObject({ exitCode: 25, billed: 'unknown', requestId: 'srv-1' });
    expect(failure.message).toContain(problem);
    expect(failure.hint).not.toContain('proxy');
    expect(speech.outcome).toBeUndefined();
  });

  test.each([
    ['quota_exceeded', 21],
    ['permission_denied', 4],
    ['session_limit_exceeded', 22],
    ['generation_failed', 23],
    ['client_backpressure', 24],
    ['voice_not_found', 20],
    ['ERR_GENERATION_FAILED', 23],
    ['constructor', 23],
  ])('stops with the error %s: exit %i', async (code, exitCode) => {
    const { answer } = await streamOf(audio('one'), eventText('error', { code, requestId: 'e-1' }));
    const failure = await failureOf(buffer((await answer()).body));
    expect(failure).toMatchObject({ code, exitCode, billed: 'unknown', requestId: 'e-1' });
  });

  test.each([
    ': heartbeat\n\n',
    '\n',
    'retry: 1000\n\n',
    'event: ping\n\n',
    'event: ping\ndata: {}\n\n',
  ])('that sends only heartbeats such as %j times out', async (beat) => {
    const sockets: Socket[] = [];
    const server = await rawServer((socket) => {
      sockets.push(socket);
      socket.write(Buffer.concat([head(200, STREAM), Buffer.from(audio('one'))]));
    });
    const { client, clock } = newClient(server.url);
    const idempotencyKey = { value: 'key-1', madeByTool: true };
    const options = { idempotencyKey, clock, idleTimeoutMs: 1_000 };
    const body = (await speakAligned(client, ORDER, options)).body[Symbol.asyncIterator]();
    for (const text of ['one', 'two', 'three']) {
      const { value } = await body.next();
      expect(Buffer.from(value ?? []).toString()).toBe(text);
      clock.advance(900);
      sockets[0]?.write(`${beat}${text === 'one' ? audio('two') : audio('three')}`);
    }
    await body.next();
    const rest = failureOf(body.next());
    clock.advance(1_001);
    sockets[0]?.write(beat);
    expect((await rest).message).toBe('the stream sent only heartbeats for 1 s');
  });

  test('with another media type: exit 25', async () => {
    const server = await rawServer((socket) =>
      socket.write(reply(200, { 'content-type': 'audio/mpeg' }, 'sound')),
    );
    const { client, clock } = newClient(server.url);
    const idempotencyKey = { value: 'key-1', madeByTool: true };
    const failure = await failureOf(speakAligned(client, ORDER, { idempotencyKey, clock }));
    expect(failure).toMatchObject({ exitCode: 25, billed: 'unknown' });
    expect(failure.message).toContain('audio/mpeg, not an event stream');
  });
});
