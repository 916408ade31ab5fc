import { expect, test } from 'vitest';
import { speechRequest, synthesize } from '../../src/api/resources/speech.ts';
import { buffer } from 'node:stream/consumers';
import { failureOf, KEY, newClient } from './new-client.ts';
import { errorReply, head, rawServer, reply } from './raw-server.ts';

const BODY = { text: 'Hello', voiceId: 'v-1', modelId: 'm-1' };
const OPTIONS = { idempotencyKey: { value: 'key-1', madeByTool: true } };
const JSON_TYPE = { 'content-type': 'application/json' };

test('audio arrives with its cost', async () => {
  const server = await rawServer((socket) =>
    socket.write(
      reply(
        200,
        {
          'content-type': 'Audio/MPEG; x=y',
          'x-request-id': 'srv-1',
          'x-openapi-credits-used': '1.5',
          'x-openapi-quota-remaining': '99',
          'x-openapi-ignored-parameters': 'pitch, volume',
        },
        'sound',
      ),
    ),
  );
  const { client } = newClient(server.url);
  const answer = await synthesize(client, BODY, { ...OPTIONS, requestId: 'mine' });
  expect(answer).toMatchObject({
    contentType: 'audio/mpeg',
    contentLength: 5,
    framing: 'length',
    requestId: 'srv-1',
    creditsUsed: 1.5,
    quotaRemaining: 99,
    ignoredParameters: ['pitch', 'volume'],
  });
  expect((await buffer(answer.body)).toString()).toBe('sound');
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/api/open/v3/speech/tts',
    body: JSON.stringify(BODY),
    headers: { 'idempotency-key': 'key-1', 'x-request-id': 'mine' },
  });
});

test('missing costs are unknown, not zero', async () => {
  const headers = { 'content-type': 'audio/wav', 'x-openapi-credits-used': 'many' };
  const server = await rawServer((socket) => socket.write(reply(200, headers, 'sound')));
  const { client } = newClient(server.url);
  const answer = await synthesize(client, BODY, OPTIONS);
  expect(answer).toMatchObject({
    creditsUsed: undefined,
    quotaRemaining: undefined,
    ignoredParameters: [],
  });
});

test.each([
  ['a login page', reply(200, { 'content-type': 'text/html' }, '<form>'), /text\/html, not audio/],
  ['no type', reply(200, {}, 'sound'), /of no type, not audio/],
  ['nothing', reply(200, { 'content-type': 'audio/mpeg' }), /no audio/],
  ['no content', reply(204), /no audio/],
  ['a job', reply(202, JSON_TYPE, '{"task":{}}'), /no audio/],
  ['a part', reply(206, { 'content-type': 'audio/mpeg' }, 'sound'), /no audio/],
  ['an unknown error', reply(200, JSON_TYPE, '{"message":"because"}'), /not audio: because/],
  [
    'compressed audio',
    reply(200, { 'content-type': 'audio/mpeg', 'content-encoding': 'gzip' }, 'x'),
    /compressed/,
  ],
])(
  'status 200 with %s is an unusable response that may be billed',
  async (_name, bytes, message) => {
    const server = await rawServer((socket) => socket.write(bytes));
    const { client } = newClient(server.url);
    const failure = await failureOf(synthesize(client, BODY, OPTIONS));
    expect(failure).toMatchObject({ exit: 'badAnswer', code: 'bad_answer', billed: 'unknown' });
    expect(failure.message).toMatch(message);
    expect(server.requests).toHaveLength(1);
  },
);

test.each(['ERR_INSUFFICIENT_CREDITS', 'ERR_UNAUTHORIZED'])(
  'an error with status 200 is an unusable response with its code: %s',
  async (code) => {
    const server = await rawServer((socket) =>
      socket.write(reply(200, JSON_TYPE, JSON.stringify({ code, message: `no: ${KEY}` }))),
    );
    const { client } = newClient(server.url);
    const failure = await failureOf(synthesize(client, BODY, OPTIONS));
    expect(failure).toMatchObject({ exit: 'badAnswer', code, status: 200, billed: 'unknown' });
    expect(failure.message).not.toContain(KEY);
  },
);

test('empty audio is an unusable response', async () => {
  const server = await rawServer((socket) => {
    socket.write(head(200, { 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' }));
    socket.write('0\r\n\r\n');
  });
  const { client } = newClient(server.url);
  const answer = await synthesize(client, BODY, OPTIONS);
  expect(await failureOf(buffer(answer.body))).toMatchObject({
    exit: 'badAnswer',
    billed: 'unknown',
  });
});

test('after a 503 the capabilities are requested before a retry', async () => {
  const gone = { models: [] };
  const server = await rawServer((socket, { method }) =>
    socket.write(
      method === 'POST'
        ? errorReply(503, 'ERR_MODEL_UNAVAILABLE')
        : reply(200, JSON_TYPE, JSON.stringify(gone)),
    ),
  );
  const { client } = newClient(server.url);
  expect(await failureOf(synthesize(client, BODY, OPTIONS))).toMatchObject({ exit: 'service' });
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/api/open/v3/speech/tts',
    '/api/open/v3/speech/tts/capabilities',
  ]);
});

test('a request can be described without sending it', async () => {
  const { client } = newClient('https://api.example');
  const shown = client.describe(speechRequest(client, BODY, OPTIONS));
  expect(shown).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer [redacted]' } });
  expect(shown.url.href).toBe('https://api.example/api/open/v3/speech/tts');
});
