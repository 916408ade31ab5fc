import { describe, expect, test } from 'vitest';
import type { RequestSpec } from '../../src/api/request.ts';
import { failureOf, newClient } from './new-client.ts';
import { rawServer, reply } from './raw-server.ts';
import { until } from './until.ts';

const PIECES = 4;
const LIMIT_MS = 1_000;

/** A body whose chunks a test releases. */
function slowBody() {
  const waiting: (() => void)[] = [];
  const spec: RequestSpec = {
    method: 'POST',
    target: '/upload',
    billed: true,
    retry: 'never',
    maxRetries: 0,
    stream: {
      contentType: 'a/b',
      byteLength: PIECES * 5,
      async *open() {
        for (let piece = 0; piece < PIECES; piece += 1) {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
          });
          yield Buffer.from('hello');
        }
      },
    },
  };
  const next = async (): Promise<void> => {
    await until(() => waiting.length > 0);
    waiting.shift()?.();
  };
  return { spec, next, isWaiting: () => waiting.length > 0 };
}

describe('the response timeout', () => {
  test('restarts while the server accepts a slow body', async () => {
    const server = await rawServer((socket) => socket.write(reply(200)));
    const { client, clock } = newClient(server.url, {
      limits: { maxRetries: 0, responseTimeoutMs: LIMIT_MS },
    });
    const { isWaiting, next, spec } = slowBody();
    const answer = client.send(spec);
    for (let piece = 0; piece < PIECES; piece += 1) {
      await until(() => isWaiting() && clock.running().includes(LIMIT_MS));
      clock.advance(LIMIT_MS - 1);
      await next();
    }
    expect((await answer).status).toBe(200);
    expect(server.requests[0]?.body).toBe('hello'.repeat(PIECES));
    expect(clock.running()).not.toContain(LIMIT_MS);
  });

  test('fires when the server accepts no more; the request was not processed', async () => {
    const server = await rawServer((socket) => socket.write(reply(200)));
    const { client, clock } = newClient(server.url, {
      limits: { maxRetries: 0, responseTimeoutMs: LIMIT_MS },
    });
    const { isWaiting, next, spec } = slowBody();
    const failure = failureOf(client.send(spec));
    await next();
    await until(isWaiting);
    clock.advance(LIMIT_MS);
    expect(await failure).toMatchObject({ exit: 'network', code: 'timeout', billed: 'no' });
    expect(server.requests).toHaveLength(0);
  });
});
