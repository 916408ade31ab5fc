import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { canaryKey } from '../../harness/canary.ts';
import {
  expectOneKey,
  filesLeft,
  KEPT,
  onSpeech,
  OPEN,
  outputOf,
  paidAudio,
  RATES,
  createFixture,
  spooled,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();
const half = mp3.bytes.subarray(0, Math.floor(mp3.bytes.length / 2));

describe('a connection that ends before a response', () => {
  test.each([
    ['broken', faults.resetBeforeHeaders],
    ['closed', faults.closeBeforeHeaders],
    ['closed inside of the headers', faults.closeInsideHeaders],
  ])('%s, every time: unknown outcome, one key', async (_how, fault) => {
    const fixture = await createFixture([onSpeech(fault())]);
    const error = await fixture.fail(['--max-retries', '1']);
    expect(error).toMatchObject({ exitCode: 26, code: 'unknown_outcome', billed: 'unknown' });
    expect(error.message).toContain('closed the connection without a response');
    expect(error.status).toBeNull();
    expect(error.hint).toContain('foley recover');
    expectOneKey(fixture, 2);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('dropped once: the next attempt has the same key and delivers', async () => {
    const fixture = await createFixture([onSpeech(faults.resetBeforeHeaders(), { nth: 1 })]);
    const result = await fixture.speak(['--max-retries', '1']);
    expect(result).toMatchObject({ code: 0, signal: null });
    expectOneKey(fixture, 2);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('dropped, and completed meanwhile: lost and billed', async () => {
    const fixture = await createFixture([
      onSpeech(faults.resetBeforeHeaders(), { nth: 1 }),
      onSpeech(faults.requestAlreadyCompleted()),
    ]);
    const error = await fixture.fail(['--max-retries', '1']);
    expect(error).toMatchObject({
      exitCode: 27,
      code: 'ERR_REQUEST_ALREADY_COMPLETED',
      billed: 'yes',
      status: 409,
    });
    expectOneKey(fixture, 2);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('dropped, and then refused: the cost of the first attempt stays unknown', async () => {
    const fixture = await createFixture([
      onSpeech(faults.resetBeforeHeaders(), { nth: 1 }),
      onSpeech(faults.errorAnswer(401)),
    ]);
    const error = await fixture.fail(['--max-retries', '1']);
    expect(error).toMatchObject({ exitCode: 4, billed: 'unknown', status: 401 });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('an unresolved request stays in the journal until recover gets a response', async () => {
    const fixture = await createFixture([onSpeech(faults.resetBeforeHeaders())]);
    await fixture.fail();
    const key = expectOneKey(fixture, 1);
    for (const count of [2, 3]) {
      const recovered = await fixture.run(['recover', '--max-retries', '0']);
      expect(recovered.code).toBe(26);
      expect(recovered.stdout.toString()).toContain(`--idempotency-key ${key}`);
      expectOneKey(fixture, count);
    }
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('recover reports nothing after a retry with the same key delivered', async () => {
    const fixture = await createFixture([onSpeech(faults.resetBeforeHeaders(), { nth: 1 })]);
    await fixture.fail();
    const again = ['--idempotency-key', expectOneKey(fixture, 1)];
    const other = { env: { FOLEY_API_KEY: canaryKey() } };
    expect((await fixture.speak(again, other)).code).toBe(0);
    expect(await filesLeft(fixture.sandbox), 'another account pays for another').toContain(OPEN);
    expect((await fixture.speak(again)).code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).not.toContain(OPEN);
  });
});

describe('a body that is reset halfway is spooled and never published', () => {
  test.each([
    ['with a length', faults.resetMidBody(mp3)],
    ['in chunks', faults.resetMidChunkedBody(mp3)],
  ])('%s', async (_how, steps) => {
    const fixture = await createFixture([onSpeech(steps)]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const error = await fixture.fail(['--max-retries', '3']);
    // The contract: a request is not repeated once its body began.
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toBe('the response was cut off');
    expect(error.hint).toMatch(
      /^The received audio is saved in \/.+\.mp3; a new request may cost again/,
    );
    expect(error.hint).toMatch(/127\.0\.0\.1:\d+ ended the response early: try again/);
    expect(error.hint).not.toMatch(/proxy/);
    expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(half);
    expect(record).toMatchObject({
      complete: false,
      creditsUsed: 2,
      output: path.join(fixture.sandbox.out, 'hi.mp3'),
      problem: 'the response was cut off',
    });
  });

  test('to stdout: written audio stays, and the exit code reports the failure', async () => {
    const fixture = await createFixture([onSpeech(faults.resetMidBody(mp3))]);
    const result = await fixture.speak(['-o', '-']);
    expect(result.code).toBe(25);
    expect(result.stdout).toStrictEqual(half);
    expect(result.stderr).toContain('foley: the response was cut off');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(half);
  });

  test('recover reports lost audio and its cost', async () => {
    const fixture = await createFixture([onSpeech(faults.resetMidBody(mp3))]);
    await fixture.fail();
    const recovered = await fixture.run(['recover']);
    expect(recovered.code).toBe(27);
    expect(recovered.stdout.toString()).toMatch(
      /^\S+: lost \(2 credits\); the part that arrived is in \/.+\.mp3; speaking it again costs again\n$/,
    );
    expect(fixture.server.requests).toHaveLength(1);
  });
});

test('the cost of a response without it is unknown', async () => {
  const { bytes, type } = mp3;
  const fixture = await createFixture([onSpeech(faults.resetMidBody({ bytes, type }))]);
  expect(await fixture.fail()).toMatchObject({ exitCode: 25, billed: 'unknown' });
  expect((await spooled(fixture.sandbox)).record).toMatchObject({ creditsUsed: null });
});

describe('a body shorter than its length is spooled and never published', () => {
  test.each([
    ['Content-Length', faults.shortBody(mp3), half],
    ['a missing last chunk', faults.closeBeforeLastChunk(mp3), mp3.bytes],
    ['a chunk that stops', faults.closeInsideChunk(mp3), half],
  ])('%s', async (_how, steps, arrived) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail(['--max-retries', '3']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toBe('the response was cut off');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(arrived);
    expect(record).toMatchObject({ complete: false });
  });
});

test('a body longer than its length is not published', async () => {
  const fixture = await createFixture([onSpeech(faults.lyingLength(mp3))]);
  const error = await fixture.fail();
  expectOneKey(fixture, 1);
  expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
  expect(error.message).toBe('the response is longer than announced');
  expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
  expect((await spooled(fixture.sandbox)).record).toMatchObject({ complete: false });
});

describe('a body that ends with the connection', () => {
  test.each(['ogg', 'wav'] as const)('is published when it proves its own end: %s', async (ext) => {
    const { [ext]: payload } = await paidAudio();
    const fixture = await createFixture([onSpeech(faults.closeDelimited(payload))]);
    expect((await fixture.speak(['-o', `hi.${ext}`])).code).toBe(0);
    expect(await outputOf(fixture.sandbox, `hi.${ext}`)).toStrictEqual(payload.bytes);
  });

  test('is spooled and not published when its end is not proven', async () => {
    const fixture = await createFixture([onSpeech(faults.closeDelimited(mp3))]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toContain('may be cut');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(mp3.bytes);
  });

  test.each([
    ['cut in order', faults.closeDelimitedShort(mp3)],
    ['cut by a reset', faults.closeDelimitedReset(mp3)],
  ])('is spooled and not published when it is %s', async (_how, steps) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(half);
  });

  test('a reset after the last byte of a body with a length is no error', async () => {
    const fixture = await createFixture([onSpeech(faults.resetAfterLastByte(mp3))]);
    expect((await fixture.speak()).code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });
});
