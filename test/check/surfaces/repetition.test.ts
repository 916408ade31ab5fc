import { describe, expect, test } from 'vitest';
import {
  requestPreviouslyRefunded,
  resetBeforeHeaders,
  errorAnswer,
  rateLimited,
} from '../../fault-server/catalogue.ts';
import { errorLine } from '../../harness/error-line.ts';
import { MODEL, SURFACES, surfaceFixture } from './surface-fixture.ts';
import type { SurfaceName } from './surface-fixture.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function words(surface: SurfaceName, ...more: readonly string[]): readonly string[] {
  return ['tts', 'Hi', '-o', 'hi.mp3', '--api', surface, '-m', MODEL, ...more];
}

function onSurface(surface: SurfaceName) {
  return { method: 'POST', path: SURFACES[surface].path };
}

describe.each(['v2', 'v1'] as const)('on %s, where the request id is the key', (surface) => {
  test('one key goes out as both headers', async () => {
    const { run, requests } = await surfaceFixture();
    await run(words(surface));
    await run(words(surface, '--idempotency-key', 'order-1'));
    await run(words(surface, '--request-id', 'trace-1'));
    await run(words(surface, '--request-id', 'same', '--idempotency-key', 'same'));
    const ids = requests(surface).map((request) => request.header('x-request-id'));
    const keys = requests(surface).map((request) => request.header('idempotency-key'));
    expect(ids).toEqual([expect.stringMatching(UUID), 'order-1', 'trace-1', 'same']);
    expect(keys).toEqual(ids);
  });

  test('two different ones are exit 2', async () => {
    const { run, server } = await surfaceFixture();
    const result = await run(words(surface, '--request-id', 'a', '--idempotency-key', 'b'));
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('--request-id and --idempotency-key differ');
    expect(server.connections).toBe(0);
  });

  test('a request without an answer is sent again under the same id', async () => {
    const { run, requests } = await surfaceFixture([
      { ...onSurface(surface), nth: 1, answer: resetBeforeHeaders() },
      { ...onSurface(surface), nth: 1, answer: errorAnswer(503, { retryAfter: '0' }) },
    ]);
    const result = await run(words(surface));
    expect(result.code, result.stderr).toBe(0);
    expect(requests(surface)).toHaveLength(3);
    expect(new Set(requests(surface).map((one) => one.header('x-request-id'))).size).toBe(1);
    expect(new Set(requests(surface).map((one) => one.body.toString())).size).toBe(1);
  });

  test('a refunded request is sent once more under a new id, unless the id was given', async () => {
    const refund = { ...onSurface(surface), nth: 1, answer: requestPreviouslyRefunded() };
    const fixture = await surfaceFixture([refund]);
    const result = await fixture.run(words(surface));
    expect(result.code, result.stderr).toBe(0);
    const ids = fixture.requests(surface).map((one) => one.header('x-request-id'));
    expect(new Set(ids).size).toBe(2);
    expect(fixture.requests(surface).map((one) => one.header('idempotency-key'))).toEqual(ids);
    for (const flag of ['--request-id', '--idempotency-key']) {
      const own = await surfaceFixture([refund]);
      expect((await own.run(words(surface, flag, 'mine'))).code).toBe(20);
      expect(own.requests(surface)).toHaveLength(1);
    }
  });
});

describe.each(['compat-tts', 'compat-speech'] as const)('on %s, without a key', (surface) => {
  test('no key is sent, and none is taken', async () => {
    const { run, requests, server } = await surfaceFixture();
    await run(words(surface, '--request-id', 'trace-1'));
    const [request] = requests(surface);
    expect(request?.header('x-request-id')).toBe('trace-1');
    expect(request?.header('idempotency-key')).toBeUndefined();
    const before = server.connections;
    const result = await run(words(surface, '--idempotency-key', 'k'));
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`--idempotency-key does not work with --api ${surface}`);
    expect(server.connections).toBe(before);
  });

  test('what was sent and not answered is exit 26, not sent again, and says where to look', async () => {
    const { run, requests } = await surfaceFixture([
      { ...onSurface(surface), answer: resetBeforeHeaders() },
    ]);
    const result = await run(words(surface, '--json'));
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 26, code: 'unknown_outcome', billed: 'unknown' });
    expect(error.hint).toContain('foley profile');
    expect(error.hint).not.toContain('--idempotency-key');
    expect(requests(surface)).toHaveLength(1);
  });

  test('a 5xx is not asked again', async () => {
    const { run, requests } = await surfaceFixture([
      { ...onSurface(surface), answer: errorAnswer(500) },
    ]);
    const result = await run(words(surface, '--json'));
    expect(errorLine(result)).toMatchObject({ exitCode: 23, billed: 'unknown' });
    expect(requests(surface)).toHaveLength(1);
  });

  test('a 429 did nothing, and is asked again', async () => {
    const { run, requests } = await surfaceFixture([
      { ...onSurface(surface), nth: 1, answer: rateLimited('0') },
    ]);
    const result = await run(words(surface));
    expect(result.code, result.stderr).toBe(0);
    expect(requests(surface)).toHaveLength(2);
  });
});
