import { expect, test } from 'vitest';
import { BILLED, failureOf, newClient, READ } from './new-client.ts';
import type { RawAnswer } from './raw-server.ts';
import { errorReply, rawServer, reply } from './raw-server.ts';

const OK = reply(200, { 'content-type': 'audio/mpeg' }, 'abc');

/** Sends the n-th response to the n-th request, and the last one to all others. */
function replyInOrder(...answers: readonly (Buffer | 'reset')[]): RawAnswer {
  return (socket, _request, index) => {
    const answer = answers[Math.min(index, answers.length - 1)];
    if (answer === 'reset' || answer === undefined) socket.resetAndDestroy();
    else socket.write(answer);
  };
}

test('a 503 is retried with the same id and key, after Retry-After and jitter', async () => {
  const busy = errorReply(503, 'ERR_MODEL_UNAVAILABLE', { headers: { 'retry-after': '3' } });
  const server = await rawServer(replyInOrder(busy, busy, OK));
  const { client, clock, events } = newClient(server.url);
  const answer = await client.send(BILLED);
  expect(answer.status).toBe(200);
  expect(clock.slept).toEqual([3_250, 3_500]);
  expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key']))).toEqual(
    new Set(['key-1']),
  );
  expect(new Set(server.requests.map(({ headers }) => headers['x-request-id']))).toEqual(
    new Set(['id-1']),
  );
  expect(events.map(({ type }) => type)).toEqual([
    'response',
    'retry',
    'response',
    'retry',
    'response',
  ]);
  expect(events[1]).toMatchObject({ type: 'retry', attempt: 1, delayMs: 3_250, reason: '503' });
});

test('a Retry-After date is relative to the date of the response', async () => {
  const busy = errorReply(429, 'ERR_RATE_LIMITED', {
    headers: {
      date: 'Fri, 20 Nov 2026 12:00:00 GMT',
      'retry-after': 'Fri, 20 Nov 2026 12:00:10 GMT',
    },
  });
  const server = await rawServer(replyInOrder(busy, OK));
  const { client, clock } = newClient(server.url);
  await client.send(READ);
  expect(clock.slept).toEqual([10_250]);
});

test.each([
  [
    'the billing of a failed request stays unknown after a later refusal',
    ['500', '402'],
    'unknown',
  ],
  ['what a reset cost is unknown also after it refuses', ['reset', '402'], 'unknown'],
  ['a model that was not there cost nothing', ['503', '402'], 'no'],
  ['a refund says that nothing was paid, whatever came before', ['reset', 'refunded'], 'no'],
  ['a refund ends what was unknown also of the next key', ['reset', 'refunded', '402'], 'no'],
] as const)('%s', async (_name, answers, billed) => {
  const replies = {
    402: errorReply(402, 'ERR_INSUFFICIENT_CREDITS'),
    500: errorReply(500, 'ERR_GENERATION_FAILED'),
    503: errorReply(503, 'ERR_SERVICE_UNAVAILABLE'),
    refunded: errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED'),
    reset: 'reset' as const,
  };
  const server = await rawServer(replyInOrder(...answers.map((answer) => replies[answer])));
  const { client } = newClient(server.url);
  const key = { ...BILLED.key, value: 'key', madeByTool: answers.length === 3 } as const;
  const failure = await failureOf(
    client.send({ ...BILLED, key: { ...key, sentAs: 'Idempotency-Key' } }),
  );
  expect(failure.billed).toBe(billed);
  expect(server.requests).toHaveLength(answers.length);
});

test('a Retry-After above two minutes is reported without waiting', async () => {
  const busy = errorReply(429, 'ERR_RATE_LIMITED', { headers: { 'retry-after': '121' } });
  const server = await rawServer(replyInOrder(busy));
  const { client, clock } = newClient(server.url);
  const failure = await failureOf(client.send(READ));
  expect(failure).toMatchObject({ exit: 'rateLimited', retryAfter: 121 });
  expect(failure.hint).toContain('2026-01-02T03:06:06');
  expect(clock.slept).toEqual([]);
});

test.each([
  [429, 'rateLimited'],
  [500, 'service'],
  [503, 'service'],
])('after the last retry a %d keeps its exit code', async (status, exit) => {
  const server = await rawServer(replyInOrder(errorReply(status, 'ERR_SOMETHING')));
  const { client, clock } = newClient(server.url, { limits: { maxRetries: 2 } });
  expect(await failureOf(client.send(READ))).toMatchObject({ exit, code: 'ERR_SOMETHING' });
  expect(server.requests).toHaveLength(3);
  expect(clock.slept).toEqual([250, 500]);
});

test('a request whose every attempt is reset has an unknown outcome', async () => {
  const server = await rawServer(replyInOrder('reset'));
  const { client } = newClient(server.url, { limits: { maxRetries: 2 } });
  const failure = await failureOf(client.send(BILLED));
  expect(failure).toMatchObject({
    exit: 'unknownOutcome',
    code: 'unknown_outcome',
    billed: 'unknown',
  });
  expect(failure.hint).toContain('foley recover');
  expect(server.requests).toHaveLength(3);
});

test('a request without a key is sent once, with a hint where to look', async () => {
  const server = await rawServer(replyInOrder('reset'));
  const { client } = newClient(server.url);
  const lookAt = '`foley voices list --include-personal` shows whether it was made.';
  const { key: _key, ...unkeyed } = BILLED;
  const failure = await failureOf(client.send({ ...unkeyed, retry: 'never', lookAt }));
  expect(failure).toMatchObject({ exit: 'unknownOutcome', hint: lookAt });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['completed', 'ERR_REQUEST_ALREADY_COMPLETED', 'lost', 'yes'],
  ['in progress for ever', 'ERR_REQUEST_IN_PROGRESS', 'unknownOutcome', 'unknown'],
])('the retry after a reset finds the request %s', async (_name, code, exit, billed) => {
  const server = await rawServer(replyInOrder('reset', errorReply(409, code)));
  const { client } = newClient(server.url, { limits: { maxRetries: 2 } });
  expect(await failureOf(client.send(BILLED))).toMatchObject({ exit, billed, code });
});

test('a request in progress is retried with its key', async () => {
  const busy = errorReply(409, 'ERR_REQUEST_IN_PROGRESS', { headers: { 'retry-after': '2' } });
  const server = await rawServer(replyInOrder('reset', busy, OK));
  const { client, clock } = newClient(server.url);
  expect((await client.send(BILLED)).status).toBe(200);
  expect(clock.slept).toEqual([250, 2_000]);
});

test('a refused connection after a lost response leaves the outcome unknown', async () => {
  const server = await rawServer((socket, _request, index) => {
    if (index === 0) socket.resetAndDestroy();
    else socket.write(errorReply(402, 'ERR_INSUFFICIENT_CREDITS'));
  });
  const { client } = newClient(server.url);
  expect(await failureOf(client.send(BILLED))).toMatchObject({
    exit: 'credits',
    billed: 'unknown',
  });
});

test('a refunded request is sent again with a new key, which is recorded first', async () => {
  const refunded = errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED');
  const server = await rawServer(replyInOrder(refunded, OK));
  const { client } = newClient(server.url);
  const told: string[] = [];
  await client.send({
    ...BILLED,
    onNewKey: async (key) => {
      expect(server.requests).toHaveLength(1);
      told.push(key);
    },
  });
  expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
    'key-1',
    ...told,
  ]);
  expect(told).toHaveLength(1);
});

test('a refunded request is sent again with the key that its own key names', async () => {
  const refunded = errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED');
  const server = await rawServer(replyInOrder(refunded, OK));
  const { client } = newClient(server.url);
  const told: string[] = [];
  const key = {
    value: 'key-1',
    madeByTool: true,
    next: () => 'key-2',
    sentAs: 'Idempotency-Key',
  } as const;
  await client.send({ ...BILLED, key, onNewKey: async (next) => void told.push(next) });
  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual(['key-1', 'key-2']);
  expect(told).toEqual(['key-2']);
});

test.each([
  ['twice', true, 2],
  ['under a key of the user’s own', false, 1],
])('a request that is refunded %s is rejected', async (_name, madeByTool, requests) => {
  const server = await rawServer(replyInOrder(errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED')));
  const { client } = newClient(server.url);
  const key = { value: 'key-1', madeByTool, sentAs: 'Idempotency-Key' } as const;
  expect(await failureOf(client.send({ ...BILLED, key }))).toMatchObject({
    exit: 'rejected',
    billed: 'no',
  });
  expect(server.requests).toHaveLength(requests);
});

test('a request that is refunded after its last retry is sent once more with a new key', async () => {
  const server = await rawServer((socket, _request, index) => {
    if (index < 2) socket.resetAndDestroy();
    else socket.write(index === 2 ? errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED') : OK);
  });
  const { client } = newClient(server.url);
  await client.send({ ...BILLED, maxRetries: 2 });
  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys.slice(0, 3)).toEqual(['key-1', 'key-1', 'key-1']);
  expect(keys).toHaveLength(4);
  expect(keys[3]).not.toBe('key-1');
});

test('a request that is refunded twice says that the next command has a new key', async () => {
  const server = await rawServer(replyInOrder(errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED')));
  const { client } = newClient(server.url);
  expect(await failureOf(client.send(BILLED))).toMatchObject({
    hint: 'Nothing was billed. Run the command again: it sends a new idempotency key.',
  });
});

test('a new key is also a new request id where the id is the key', async () => {
  const server = await rawServer(
    replyInOrder(errorReply(409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED'), OK),
  );
  const { client } = newClient(server.url);
  await client.send({ ...BILLED, key: { value: 'k-1', madeByTool: true, sentAs: 'X-Request-Id' } });
  const { 'idempotency-key': key, 'x-request-id': id } = server.requests[1]?.headers ?? {};
  expect(key).toBe(id);
  expect(key).not.toBe('k-1');
});

test('a 503 is final when the model is unavailable', async () => {
  const server = await rawServer(replyInOrder(errorReply(503, 'ERR_MODEL_UNAVAILABLE')));
  const { client } = newClient(server.url);
  const answers = [true, undefined, false];
  const modelStillAvailable = async (): Promise<boolean | undefined> => answers.shift();
  const failure = await failureOf(client.send({ ...BILLED, modelStillAvailable }));
  expect(failure).toMatchObject({ exit: 'service', billed: 'no' });
  expect(server.requests).toHaveLength(3);
});

test('a signal ends the wait between attempts', async () => {
  const server = await rawServer(replyInOrder(errorReply(503, 'ERR_MODEL_UNAVAILABLE')));
  const stop = new AbortController();
  const { client } = newClient(server.url, {
    observer: ({ type }) => {
      if (type === 'retry') stop.abort(new Error('Ctrl-C'));
    },
  });
  await expect(client.send({ ...BILLED, signal: stop.signal })).rejects.toThrow('Ctrl-C');
  expect(server.requests).toHaveLength(1);
});

test('an abort reason that is not an error is thrown as it is', async () => {
  const { client } = newClient('http://127.0.0.1:9');
  const outcome = client.send({ ...READ, signal: AbortSignal.abort('too late') });
  await expect(outcome).rejects.toBe('too late');
});
