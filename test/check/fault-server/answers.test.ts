import { describe, expect, test } from 'vitest';
import { request } from 'undici';
import * as catalogue from '../../fault-server/catalogue.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { getRaw } from '../../harness/raw-connection.ts';
import type { Answer } from '../../fault-server/script.ts';
import { fin } from '../../fault-server/steps.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';

const { mp3 } = await tinyAudio();

/** What a client that follows no redirect makes of an answer. */
async function ask(answer: Answer, headers: Record<string, string> = {}) {
  const server = await startFaultServer([{ answer }]);
  const { statusCode, headers: received, body } = await request(server.origin, { headers });
  const bytes = Buffer.from(await body.arrayBuffer());
  return { status: statusCode, headers: received, bytes, text: bytes.toString() };
}

async function raw(answer: readonly Step[]) {
  const server = await startFaultServer([{ answer: [...answer, fin()] }]);
  return getRaw(server.origin);
}

describe('answers with a wrong content', () => {
  test('are known by status, type and body', async () => {
    const html = 'text/html; charset=utf-8';
    const rows = [
      [catalogue.audio(mp3), 200, 'audio/mpeg', mp3.bytes],
      [catalogue.wrongType(mp3), 200, 'text/plain', mp3.bytes],
      [catalogue.withoutType(mp3), 200, undefined, mp3.bytes],
      [catalogue.emptyBody(), 200, 'audio/mpeg', ''],
      [catalogue.noContent(), 204, undefined, ''],
      [catalogue.partialContent(mp3), 206, 'audio/mpeg', mp3.bytes],
      [catalogue.jsonInsteadOfAudio({ a: 1 }), 200, 'application/json', '{"a":1}'],
      [catalogue.wrongMagic(), 200, 'audio/mpeg', /^This is not audio/],
      [catalogue.captivePortal(), 200, html, /^<!DOCTYPE html>/],
      [catalogue.proxyError(502), 502, 'text/html', /nginx/],
      [catalogue.proxyAuthenticationRequired(), 407, 'text/html', /407/],
    ] as const;
    for (const [answer, status, type, body] of rows) {
      const seen = await ask(answer);
      expect([seen.status, seen.headers['content-type']]).toStrictEqual([status, type]);
      if (body instanceof RegExp) {
        expect(seen.text).toMatch(body);
      } else {
        expect(seen.bytes.equals(Buffer.from(body))).toBe(true);
      }
    }
  });

  test('may not be HTTP at all', async () => {
    expect((await raw(catalogue.notHttp())).text).toMatch(/^SSH-2\.0/);
  });

  test('may be JSON that is cut, huge or deep', async () => {
    expect(() => JSON.parse('{"items":[{"voiceId":"')).toThrow();
    expect((await ask(catalogue.cutJson())).text).toBe('{"items":[{"voiceId":"');
    const huge = await ask(catalogue.hugeJson(10_000_000));
    expect(huge.bytes.length).toBeGreaterThan(10_000_000);
    expect(JSON.parse(huge.text)).toHaveProperty('items');
    const deep = await ask(catalogue.deepJson(50_000));
    expect(deep.text).toMatch(/^\{"items":\[{50000}\]{50000}\}$/);
  });
});

describe('errors by status', () => {
  test('have the envelope of the service', async () => {
    const seen = await ask(
      catalogue.errorAnswer(402, {
        code: 'ERR_INSUFFICIENT_CREDITS',
        message: 'm',
        requestId: 'r',
      }),
    );
    expect(seen.status).toBe(402);
    expect(seen.headers).toMatchObject({ 'content-type': 'application/json', 'x-request-id': 'r' });
    expect(JSON.parse(seen.text)).toStrictEqual({
      code: 'ERR_INSUFFICIENT_CREDITS',
      message: 'm',
      requestId: 'r',
    });
  });

  test.each([true, false])('say in their details whether to try again: %s', async (retryable) => {
    const { text } = await ask(catalogue.mediaImportFailed(504, retryable));
    expect(JSON.parse(text)).toMatchObject({ details: { media_kind: 'video', retryable } });
  });

  test('name the three ways and the conflict of a repeated key', async () => {
    const answers = [
      catalogue.requestInProgress('1'),
      catalogue.requestAlreadyCompleted(),
      catalogue.requestPreviouslyRefunded(),
      catalogue.requestIdConflict(),
    ];
    const seen: string[] = [];
    for (const answer of answers) {
      const { status, text } = await ask(answer);
      seen.push(`${status} ${String(JSON.parse(text).code)}`);
    }
    expect(seen).toStrictEqual([
      '409 ERR_REQUEST_IN_PROGRESS',
      '409 ERR_REQUEST_ALREADY_COMPLETED',
      '409 ERR_REQUEST_PREVIOUSLY_REFUNDED',
      '409 ERR_REQUEST_ID_CONFLICT',
    ]);
  });

  test('say when to come again, in seconds or by the server’s clock', async () => {
    expect((await ask(catalogue.rateLimited('7'))).headers['retry-after']).toBe('7');
    expect((await ask(catalogue.unavailable())).headers['retry-after']).toBeUndefined();
    const { headers } = await ask(catalogue.unavailableUntil(90, new Date('2001-02-03T04:05:06Z')));
    expect(headers).toMatchObject({
      date: 'Sat, 03 Feb 2001 04:05:06 GMT',
      'retry-after': 'Sat, 03 Feb 2001 04:06:36 GMT',
    });
  });

  test.each(Object.entries(catalogue.BAD_RETRY_AFTER))(
    'may wait for nonsense: %s',
    async (_, wait) => {
      expect((await raw(catalogue.unavailable(wait))).text).toContain(
        `\r\nRetry-After: ${wait}\r\n`,
      );
    },
  );
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308] as const)('%i names the place', async (status) => {
    const seen = await ask(catalogue.redirectTo('http://else.test/a?b', status));
    expect([seen.status, seen.headers['location']]).toStrictEqual([status, 'http://else.test/a?b']);
  });

  test('may name none', async () => {
    const seen = await ask(catalogue.redirectNowhere());
    expect([seen.status, seen.headers['location']]).toStrictEqual([302, undefined]);
  });

  test('may go round, and may go on', async () => {
    const server = await startFaultServer([
      ...catalogue.redirectLoop('/loop'),
      ...catalogue.redirectChain('/chain', 3),
    ]);
    const next = async (path: string) => (await request(server.origin + path)).headers['location'];
    expect([await next('/loop'), await next('/loop/again')]).toStrictEqual([
      '/loop/again',
      '/loop',
    ]);
    expect([await next('/chain'), await next('/chain/1'), await next('/chain/2')]).toStrictEqual([
      '/chain/1',
      '/chain/2',
      '/chain/3',
    ]);
  });

  test.each(Object.values(catalogue.FORBIDDEN_LOCATIONS))('may go to %s', async (location) => {
    expect((await ask(catalogue.redirectTo(location))).headers['location']).toBe(location);
  });
});
