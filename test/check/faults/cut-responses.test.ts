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
  scene,
  spooled,
} from '../../binary/support/scene.ts';

const { mp3 } = await paidAudio();
const half = mp3.bytes.subarray(0, Math.floor(mp3.bytes.length / 2));

describe('a connection that ends before a response', () => {
  test.each([
    ['broken', faults.resetBeforeHeaders],
    ['closed', faults.closeBeforeHeaders],
    ['closed inside of the headers', faults.closeInsideHeaders],
  ])('%s, every time: unknown outcome, one key', async (_how, fault) => {
    const stage = await scene([onSpeech(fault())]);
    const error = await stage.fail(['--max-retries', '1']);
    expect(error).toMatchObject({ exitCode: 26, code: 'unknown_outcome', billed: 'unknown' });
    expect(error.message).toContain('closed the connection without a response');
    expect(error.status).toBeNull();
    expect(error.hint).toContain('foley recover');
    expectOneKey(stage, 2);
    expect(await filesLeft(stage.box)).toStrictEqual([OPEN]);
  });

  test('dropped once: the next attempt has the same key and delivers', async () => {
    const stage = await scene([onSpeech(faults.resetBeforeHeaders(), { nth: 1 })]);
    const result = await stage.speak(['--max-retries', '1']);
    expect(result).toMatchObject({ code: 0, signal: null });
    expectOneKey(stage, 2);
    expect(await outputOf(stage.box)).toStrictEqual(mp3.bytes);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('dropped, and completed meanwhile: lost and billed', async () => {
    const stage = await scene([
      onSpeech(faults.resetBeforeHeaders(), { nth: 1 }),
      onSpeech(faults.requestAlreadyCompleted()),
    ]);
    const error = await stage.fail(['--max-retries', '1']);
    expect(error).toMatchObject({
      exitCode: 27,
      code: 'ERR_REQUEST_ALREADY_COMPLETED',
      billed: 'yes',
      status: 409,
    });
    expectOneKey(stage, 2);
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test('dropped, and then refused: the cost of the first attempt stays unknown', async () => {
    const stage = await scene([
      onSpeech(faults.resetBeforeHeaders(), { nth: 1 }),
      onSpeech(faults.errorAnswer(401)),
    ]);
    const error = await stage.fail(['--max-retries', '1']);
    expect(error).toMatchObject({ exitCode: 4, billed: 'unknown', status: 401 });
    expect(await filesLeft(stage.box)).toStrictEqual([OPEN]);
  });

  test('an unresolved request stays in the journal until recover gets a response', async () => {
    const stage = await scene([onSpeech(faults.resetBeforeHeaders())]);
    await stage.fail();
    const key = expectOneKey(stage, 1);
    for (const count of [2, 3]) {
      const recovered = await stage.run(['recover', '--max-retries', '0']);
      expect(recovered.code).toBe(26);
      expect(recovered.stdout.toString()).toContain(`--idempotency-key ${key}`);
      expectOneKey(stage, count);
    }
    expect(await filesLeft(stage.box)).toStrictEqual([OPEN]);
  });

  test('recover reports nothing after a retry with the same key delivered', async () => {
    const stage = await scene([onSpeech(faults.resetBeforeHeaders(), { nth: 1 })]);
    await stage.fail();
    const again = ['--idempotency-key', expectOneKey(stage, 1)];
    const other = { env: { FOLEY_API_KEY: canaryKey() } };
    expect((await stage.speak(again, other)).code).toBe(0);
    expect(await filesLeft(stage.box), 'another account pays for another').toContain(OPEN);
    expect((await stage.speak(again)).code).toBe(0);
    expect(await filesLeft(stage.box)).not.toContain(OPEN);
  });
});

describe('a body that is reset halfway is spooled and never published', () => {
  test.each([
    ['with a length', faults.resetMidBody(mp3)],
    ['in chunks', faults.resetMidChunkedBody(mp3)],
  ])('%s', async (_how, steps) => {
    const stage = await scene([onSpeech(steps)]);
    await writeFile(path.join(stage.box.out, 'hi.mp3'), 'the older file');
    const error = await stage.fail(['--max-retries', '3']);
    // The contract: a request is not repeated once its body began.
    expectOneKey(stage, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toBe('the response was cut off');
    expect(error.hint).toMatch(
      /^The received audio is saved in \/.+\.mp3; a new request may cost again/,
    );
    expect(error.hint).toMatch(/127\.0\.0\.1:\d+ ended the response early: try again/);
    expect(error.hint).not.toMatch(/proxy/);
    expect((await outputOf(stage.box)).toString()).toBe('the older file');
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    const { audio, record } = await spooled(stage.box);
    expect(audio).toStrictEqual(half);
    expect(record).toMatchObject({
      complete: false,
      creditsUsed: 2,
      output: path.join(stage.box.out, 'hi.mp3'),
      problem: 'the response was cut off',
    });
  });

  test('to stdout: written audio stays, and the exit code reports the failure', async () => {
    const stage = await scene([onSpeech(faults.resetMidBody(mp3))]);
    const result = await stage.speak(['-o', '-']);
    expect(result.code).toBe(25);
    expect(result.stdout).toStrictEqual(half);
    expect(result.stderr).toContain('foley: the response was cut off');
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    expect((await spooled(stage.box)).audio).toStrictEqual(half);
  });

  test('recover reports lost audio and its cost', async () => {
    const stage = await scene([onSpeech(faults.resetMidBody(mp3))]);
    await stage.fail();
    const recovered = await stage.run(['recover']);
    expect(recovered.code).toBe(27);
    expect(recovered.stdout.toString()).toMatch(
      /^\S+: lost \(2 credits\); the part that arrived is in \/.+\.mp3; speaking it again costs again\n$/,
    );
    expect(stage.server.requests).toHaveLength(1);
  });
});

test('the cost of a response without it is unknown', async () => {
  const { bytes, type } = mp3;
  const stage = await scene([onSpeech(faults.resetMidBody({ bytes, type }))]);
  expect(await stage.fail()).toMatchObject({ exitCode: 25, billed: 'unknown' });
  expect((await spooled(stage.box)).record).toMatchObject({ creditsUsed: null });
});

describe('a body shorter than its length is spooled and never published', () => {
  test.each([
    ['Content-Length', faults.shortBody(mp3), half],
    ['a missing last chunk', faults.closeBeforeLastChunk(mp3), mp3.bytes],
    ['a chunk that stops', faults.closeInsideChunk(mp3), half],
  ])('%s', async (_how, steps, arrived) => {
    const stage = await scene([onSpeech(steps)]);
    const error = await stage.fail(['--max-retries', '3']);
    expectOneKey(stage, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toBe('the response was cut off');
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    const { audio, record } = await spooled(stage.box);
    expect(audio).toStrictEqual(arrived);
    expect(record).toMatchObject({ complete: false });
  });
});

test('a body longer than its length is not published', async () => {
  const stage = await scene([onSpeech(faults.lyingLength(mp3))]);
  const error = await stage.fail();
  expectOneKey(stage, 1);
  expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
  expect(error.message).toBe('the response is longer than announced');
  expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
  expect((await spooled(stage.box)).record).toMatchObject({ complete: false });
});

describe('a body that ends with the connection', () => {
  test.each(['ogg', 'wav'] as const)('is published when it proves its own end: %s', async (ext) => {
    const { [ext]: payload } = await paidAudio();
    const stage = await scene([onSpeech(faults.closeDelimited(payload))]);
    expect((await stage.speak(['-o', `hi.${ext}`])).code).toBe(0);
    expect(await outputOf(stage.box, `hi.${ext}`)).toStrictEqual(payload.bytes);
  });

  test('is spooled and not published when its end is not proven', async () => {
    const stage = await scene([onSpeech(faults.closeDelimited(mp3))]);
    const error = await stage.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toContain('may be cut');
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    expect((await spooled(stage.box)).audio).toStrictEqual(mp3.bytes);
  });

  test.each([
    ['cut in order', faults.closeDelimitedShort(mp3)],
    ['cut by a reset', faults.closeDelimitedReset(mp3)],
  ])('is spooled and not published when it is %s', async (_how, steps) => {
    const stage = await scene([onSpeech(steps)]);
    const error = await stage.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    expect((await spooled(stage.box)).audio).toStrictEqual(half);
  });

  test('a reset after the last byte of a body with a length is no error', async () => {
    const stage = await scene([onSpeech(faults.resetAfterLastByte(mp3))]);
    expect((await stage.speak()).code).toBe(0);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', RATES]);
  });
});
