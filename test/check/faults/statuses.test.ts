import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { CAPABILITIES_PATH } from '../../fault-server/healthy-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import {
  expectOneKey,
  filesLeft,
  onSpeech,
  OPEN,
  RATES,
  createFixture,
  speechRequests,
} from '../../binary/support/fixture.ts';

const FAST = ['--max-retries', '1'];

describe('5xx', () => {
  test.each([500, 502, 504])('%d every time: one key', async (status) => {
    const fixture = await createFixture([onSpeech(faults.errorAnswer(status))]);
    const error = await fixture.fail(FAST);
    expectOneKey(fixture, 2);
    expect(error).toMatchObject({ exitCode: 23, status, code: `ERR_${status}`, billed: 'unknown' });
    expect(error.requestId).toBe(`r-${status}`);
    expect(error.hint).toContain('--idempotency-key');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('once: the next attempt delivers', async () => {
    const fixture = await createFixture([onSpeech(faults.errorAnswer(500), { nth: 1 })]);
    expect((await fixture.speak(FAST)).code).toBe(0);
    expectOneKey(fixture, 2);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('of a proxy without an error body', async () => {
    const fixture = await createFixture([onSpeech(faults.proxyError(502))]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 23, status: 502, code: 'bad_answer' });
    expect(error.message).toBe('the service failed (502)');
  });

  test('that is permanent is not retried', async () => {
    const details = { retryable: false };
    const fixture = await createFixture([onSpeech(faults.errorAnswer(500, { details }))]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 23, details });
  });
});

test('507: the disk of the service is full; not retried', async () => {
  const details = { retryable: false };
  const full = faults.errorAnswer(507, { code: 'ERR_STORAGE_FULL', details });
  const fixture = await createFixture([onSpeech(full)]);
  const error = await fixture.fail(['--max-retries', '4']);
  expectOneKey(fixture, 1);
  expect(error).toMatchObject({
    exitCode: 23,
    status: 507,
    code: 'ERR_STORAGE_FULL',
    billed: 'no',
  });
  expect(error.message).toMatch(/^the disk of the service is full \(507\)/);
  expect(error.hint).toContain('foley serve --data-dir');
});

describe('503 with Retry-After', () => {
  test.each([
    ['a second', '1', 1],
    ['nothing', '0', 0],
    ['a past date', faults.BAD_RETRY_AFTER.past, 0],
    ['words', faults.BAD_RETRY_AFTER.words, null],
    ['less than nothing', faults.BAD_RETRY_AFTER.negative, null],
    ['a date that is none', faults.BAD_RETRY_AFTER.badDate, null],
    ['an empty value', faults.BAD_RETRY_AFTER.empty, null],
    ['infinity', faults.BAD_RETRY_AFTER.infinity, null],
  ])('%s: retried', async (_what, value, told) => {
    const fixture = await createFixture([onSpeech(faults.unavailable(value))]);
    const error = await fixture.fail(FAST);
    expectOneKey(fixture, 2);
    expect(error).toMatchObject({ exitCode: 23, status: 503, retryAfter: told });
    expect(error).toMatchObject({ code: 'ERR_MODEL_UNAVAILABLE', billed: 'no' });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test.each([
    ['121 s', '121', 121],
    ['a year', faults.BAD_RETRY_AFTER.year, 31_536_000],
    ['beyond every integer', faults.BAD_RETRY_AFTER.beyondIntegers, 315_360_000],
  ])('%s: fails at once and names the time', async (_what, value, told) => {
    const fixture = await createFixture([onSpeech(faults.unavailable(value))]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 23, status: 503, retryAfter: told, billed: 'no' });
    expect(error.hint).toMatch(/The service asks to wait until \d{4}-\d\d-\d\dT[\d:.]+Z\./);
  });

  test('an HTTP date in more than two minutes: fails at once and names the time', async () => {
    const fixture = await createFixture([onSpeech(faults.unavailableUntil(600))]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 23, retryAfter: 600 });
    expect(error.hint).toContain('The service asks to wait until');
  });

  test('an unavailable model is not retried', async () => {
    const record = JSON.stringify({ contractVersion: '3.0', route: '/', models: [] });
    const type = { 'Content-Type': 'application/json' };
    const fixture = await createFixture([
      onSpeech(faults.unavailable('0')),
      { path: CAPABILITIES_PATH, answer: answer(200, type, record) },
    ]);
    const error = await fixture.fail(['-m', 'vendor-s21pro-flash', '--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 23, billed: 'no' });
    const capabilities = fixture.server.requests.find(({ path }) => path === CAPABILITIES_PATH);
    expect(capabilities?.header('authorization')).toBeUndefined();
  });
});

describe('409, the same request is still in progress', () => {
  test('until the limit: unknown outcome', async () => {
    const fixture = await createFixture([onSpeech(faults.requestInProgress('0'))]);
    const error = await fixture.fail(FAST);
    const key = expectOneKey(fixture, 2);
    expect(error).toMatchObject({ exitCode: 26, code: 'ERR_REQUEST_IN_PROGRESS', status: 409 });
    expect(error).toMatchObject({ billed: 'unknown', retryAfter: 0 });
    expect(error.hint).toContain(`--idempotency-key ${key}`);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('and then completed: delivered', async () => {
    const fixture = await createFixture([onSpeech(faults.requestInProgress(), { nth: 1 })]);
    expect((await fixture.speak(FAST)).code).toBe(0);
    expectOneKey(fixture, 2);
  });
});

describe('409, the request was completed before', () => {
  test('is lost, reported, and never bought again', async () => {
    const fixture = await createFixture([onSpeech(faults.requestAlreadyCompleted())]);
    const error = await fixture.fail(['--max-retries', '4', '--idempotency-key', 'mine']);
    expect(speechRequests(fixture)).toHaveLength(1);
    expect(error).toMatchObject({ exitCode: 27, code: 'ERR_REQUEST_ALREADY_COMPLETED' });
    expect(error).toMatchObject({ billed: 'yes', status: 409 });
    expect(error.message).toContain('already completed and billed');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });
});

describe('409, the key belongs to another request', () => {
  test('is rejected, and not retried with any key', async () => {
    const fixture = await createFixture([onSpeech(faults.requestIdConflict())]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 20, code: 'ERR_REQUEST_ID_CONFLICT', billed: 'no' });
    expect(error.hint).toContain('--idempotency-key');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('a refunded generated key is renewed once', async () => {
    const fixture = await createFixture([onSpeech(faults.requestPreviouslyRefunded(), { nth: 1 })]);
    expect((await fixture.speak(FAST)).code).toBe(0);
    const keys = speechRequests(fixture).map((request) => request.header('idempotency-key'));
    expect(keys).toHaveLength(2);
    expect(keys[0]).not.toBe(keys[1]);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('a generated key that was refunded after lost attempts is renewed once', async () => {
    const fixture = await createFixture([
      onSpeech(faults.resetBeforeHeaders(), { times: 2 }),
      onSpeech(faults.requestPreviouslyRefunded(), { times: 1 }),
    ]);
    const result = await fixture.speak(['--max-retries', '2']);
    expect(result.code, result.stderr).toBe(0);
    const keys = speechRequests(fixture).map((request) => request.header('idempotency-key'));
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[0]);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('a refunded key is not renewed twice', async () => {
    const fixture = await createFixture([onSpeech(faults.requestPreviouslyRefunded())]);
    const error = await fixture.fail(['--max-retries', '4']);
    expect(speechRequests(fixture)).toHaveLength(2);
    expect(error).toMatchObject({ exitCode: 20, billed: 'no' });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('a refunded key of the user is not replaced', async () => {
    const fixture = await createFixture([onSpeech(faults.requestPreviouslyRefunded())]);
    const error = await fixture.fail(['--max-retries', '4', '--idempotency-key', 'mine']);
    expect(speechRequests(fixture)).toHaveLength(1);
    expect(error).toMatchObject({ exitCode: 20, code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' });
  });
});

describe('rejected', () => {
  test.each([400, 404, 405, 413, 415, 422, 451])(
    '%d is reported without a retry',
    async (status) => {
      const details = { field: 'voiceId' };
      const fixture = await createFixture([onSpeech(faults.errorAnswer(status, { details }))]);
      const error = await fixture.fail(['--max-retries', '4']);
      expectOneKey(fixture, 1);
      expect(error).toMatchObject({ exitCode: 20, status, code: `ERR_${status}`, billed: 'no' });
      expect(error.message).toContain(`(${status}): The service says ${status}.`);
      expect(error.details).toStrictEqual(details);
      expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
    },
  );

  test('on stderr with code, request id and what to do', async () => {
    const fixture = await createFixture([
      onSpeech(faults.errorAnswer(404, { message: 'No such voice.' })),
    ]);
    const result = await fixture.speak();
    expect(result.stderr).toBe(
      'foley: not found in this account (404): No such voice. ' +
        '(ERR_404, request r-404)\n' +
        'Check the id and the account.\n',
    );
    expect(result.stdout).toHaveLength(0);
  });
});

describe('401 and 403', () => {
  test.each([401, 403])('%d is reported without a retry', async (status) => {
    const fixture = await createFixture([onSpeech(faults.errorAnswer(status))]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 4, status, code: `ERR_${status}`, billed: 'no' });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test.each([
    [401, 'no_key'],
    [403, 'bad_answer'],
  ])('%d without a body has the error code %s', async (status, code) => {
    const fixture = await createFixture([onSpeech(answer(status, {}, ''))]);
    expect(await fixture.fail()).toMatchObject({ exitCode: 4, status, code, billed: 'no' });
  });
});

test('402, out of credits', async () => {
  const details = { required: 40, available: 12 };
  const fixture = await createFixture([
    onSpeech(faults.errorAnswer(402, { code: 'ERR_INSUFFICIENT_CREDITS', details })),
  ]);
  const error = await fixture.fail(['--max-retries', '4']);
  expectOneKey(fixture, 1);
  expect(error).toMatchObject({ exitCode: 21, code: 'ERR_INSUFFICIENT_CREDITS', billed: 'no' });
  expect(error.details).toStrictEqual(details);
  expect(error.hint).toContain('foley profile');
  expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
});

describe('429', () => {
  test('every time: one key', async () => {
    const fixture = await createFixture([onSpeech(faults.rateLimited('0'))]);
    const error = await fixture.fail(FAST);
    expectOneKey(fixture, 2);
    expect(error).toMatchObject({ exitCode: 22, status: 429, code: 'ERR_RATE_LIMITED' });
    expect(error).toMatchObject({ billed: 'no', retryAfter: 0 });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('once: the next attempt delivers', async () => {
    const fixture = await createFixture([onSpeech(faults.rateLimited('1'), { nth: 1 })]);
    expect((await fixture.speak(FAST)).code).toBe(0);
    expectOneKey(fixture, 2);
  });

  test('a Retry-After above two minutes fails at once', async () => {
    const fixture = await createFixture([onSpeech(faults.rateLimited('3600'))]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 22, retryAfter: 3600 });
    expect(error.hint).toMatch(/The service asks to wait until \d{4}-/);
  });
});

describe('a clock that is wrong by a day', () => {
  const DAY_MS = 86_400_000;
  test.each([
    ['behind', -DAY_MS],
    ['ahead', DAY_MS],
  ])('of the service, %s: its dates are relative to its own clock', async (_which, ms) => {
    const clock = new Date(Date.now() + ms);
    const fixture = await createFixture([onSpeech(faults.unavailableUntil(1, clock), { nth: 1 })]);
    expect((await fixture.speak(FAST)).code).toBe(0);
    expectOneKey(fixture, 2);
  });
});
