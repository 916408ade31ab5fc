import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { errorLine } from '../../harness/error-line.ts';
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
  SOON,
  spooled,
} from '../../binary/support/fixture.ts';

const { mp3, wav } = await paidAudio();
const TEXT = 'This is not audio, whatever the header says.';

describe('compressed audio, which was not requested', () => {
  test.each([
    ['whole', faults.gzipBody(mp3)],
    ['cut', faults.cutGzip(mp3)],
  ])('%s', async (_how, steps) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail(['--max-retries', '3']);
    expectOneKey(fixture, 1);
    expect(fixture.server.requests[0]?.header('accept-encoding')).toBe('identity');
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
    expect(error.message).toBe('the response is compressed, which foley did not request');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });
});

describe('a 200 that is JSON', () => {
  test.each(['ERR_INTERNAL', 'ERR_INSUFFICIENT_CREDITS', 'ERR_UNAUTHORIZED'])(
    'with an error is unusable, and the error is reported: %s',
    async (code) => {
      const body = { code, message: 'Said in JSON.', requestId: 'r-json' };
      const fixture = await createFixture([onSpeech(faults.jsonInsteadOfAudio(body))]);
      const error = await fixture.fail(['--max-retries', '3']);
      expectOneKey(fixture, 1);
      expect(error).toMatchObject({ exitCode: 25, code, billed: 'unknown' });
      expect(error).toMatchObject({ requestId: 'r-json', status: 200 });
      expect(error.message).toBe('the response is application/json, not audio: Said in JSON.');
      expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
    },
  );

  test.each([
    ['something else', { hello: 'world' }],
    ['an array', ['EVIL']],
  ])('without an error: %s', async (_what, body) => {
    const fixture = await createFixture([onSpeech(faults.jsonInsteadOfAudio(body))]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
    expect(error.message).toBe('the response is application/json, not audio');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('never on stdout', async () => {
    const fixture = await createFixture([onSpeech(faults.jsonInsteadOfAudio())]);
    const result = await fixture.speak(['-o', '-']);
    expect(result.code).toBe(25);
    expect(result.stdout).toHaveLength(0);
  });
});

describe('bytes of another format', () => {
  test.each([
    ['text', faults.wrongMagic(), Buffer.from(TEXT), /not mp3; it begins with 54 68 69 73/],
    [
      'another format',
      faults.wrongType(wav, 'audio/mpeg'),
      wav.bytes,
      /is wav, not mp3; it begins with 52 49 46 46/,
    ],
  ])('are spooled and not published: %s', async (_what, steps, all, words) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail(['--max-retries', '3']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(error.message).toMatch(words);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(all);
    expect(record).toMatchObject({ complete: false, problem: error.message });
  });

  test('noise after valid audio: all of it is spooled, and the file is not published', async () => {
    const noise = Buffer.alloc(50_000, 'noise');
    const bytes = Buffer.concat([mp3.bytes, noise]);
    const fixture = await createFixture([onSpeech(faults.audio({ ...mp3, bytes }))]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toBe(
      `the audio has bytes that are not mp3 at offset ${mp3.bytes.length}`,
    );
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(bytes);
  });

  test('are not written to stdout', async () => {
    const fixture = await createFixture([onSpeech(faults.wrongMagic())]);
    const result = await fixture.speak(['-o', '-']);
    expect(result.code).toBe(25);
    expect(result.stdout).toHaveLength(0);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(Buffer.from(TEXT));
  });

  test('a right media type is not enough, and a wrong one is refused with valid bytes too', async () => {
    const fixture = await createFixture([onSpeech(faults.wrongType(mp3))]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
    expect(error.message).toBe('the response is text/plain, not audio');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test.each([
    ['without a type', faults.withoutType(mp3), 'of no type'],
    ['200 of no bytes', faults.emptyBody(), 'no audio'],
  ])('%s', async (_what, steps, words) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
    expect(error.message).toContain(words);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });
});

describe('a response without a body', () => {
  test.each([
    ['204', faults.noContent(), 204],
    ['206', faults.partialContent(mp3), 206],
  ])('%s', async (_what, steps, status) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail(['--max-retries', '3']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown', status });
    expect(error.message).toBe(`the response (${status}) has no audio`);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });
});

describe('too large headers', () => {
  test.each([
    ['one header of 100 kB', faults.hugeHeader(mp3, 100_000)],
    ['ten thousand headers', faults.manyHeaders(mp3, 10_000)],
    ['headers without an end', faults.endlessHeaders()],
    ['interim answers without an end', faults.informationalFlood(mp3, Infinity)],
    ['a hundred interim answers', faults.informationalFlood(mp3, 100)],
    ['something that is not HTTP', faults.notHttp()],
  ])('%s', async (_what, steps) => {
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail(['--max-retries', '3']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
    expect(error.message).toMatch(/is not valid HTTP$|headers of .* are too large$/);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('a few interim responses are accepted', async () => {
    const fixture = await createFixture([onSpeech(faults.informationalFlood(mp3, 5))]);
    expect((await fixture.speak()).code).toBe(0);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
  });
});

describe('an endless body', () => {
  test('of audio continues until the user stops it: the contract has no total limit', async () => {
    const fixture = await createFixture([onSpeech(faults.endlessBody(mp3))]);
    const running = await fixture.start(['tts', 'hi', '-v', 'v', '-o', 'hi.mp3']);
    const request = await fixture.server.received();
    await expect.poll(() => request.answer.bytesWritten, SOON).toBeGreaterThan(4_000_000);
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.signal).toBe('SIGINT');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
  });

  test('of JSON is refused at 16 MiB', async () => {
    const fixture = await createFixture([
      { path: PROFILE_PATH, answer: faults.hugeJson(100_000_000) },
    ]);
    const error = errorLine(await fixture.run(['profile', '--json', '--max-retries', '0']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toMatch(/larger than/);
    const [request] = fixture.server.requests;
    expect(request?.answer.bytesWritten).toBeLessThan(40_000_000);
  });

  test('of an error is abandoned: the status is reported', async () => {
    const steps = faults.hugeJson(100_000_000, 400);
    const fixture = await createFixture([onSpeech(steps)]);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 20, billed: 'no', status: 400 });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });
});

describe('a missing response', () => {
  test('of a billed request: unknown outcome, one key', async () => {
    const fixture = await createFixture([onSpeech(faults.silence())]);
    const error = await fixture.fail(['--response-timeout', '200ms', '--max-retries', '1']);
    expectOneKey(fixture, 2);
    expect(error).toMatchObject({ exitCode: 26, code: 'unknown_outcome', billed: 'unknown' });
    expect(error.message).toMatch(/^127\.0\.0\.1:\d+ did not respond within 200 ms; /);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test('of a read: a network failure', async () => {
    const fixture = await createFixture([{ path: PROFILE_PATH, answer: faults.silence() }]);
    const flags = ['--json', '--response-timeout', '200ms', '--max-retries', '1'];
    const error = errorLine(await fixture.run(['profile', ...flags]));
    expect(error).toMatchObject({ exitCode: 24, code: 'timeout', billed: 'no' });
    expect(fixture.server.requests).toHaveLength(2);
  });

  test('once: the next attempt has the same key', async () => {
    const fixture = await createFixture([onSpeech(faults.silence(), { nth: 1 })]);
    const flags = ['--response-timeout', '1s', '--max-retries', '1'];
    expect((await fixture.speak(flags)).code).toBe(0);
    expectOneKey(fixture, 2);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });
});

describe('a slow body', () => {
  test('is read for any time while bytes arrive', async () => {
    const fixture = await createFixture([onSpeech(faults.inPieces(mp3, 8))]);
    const running = await fixture.start(['tts', 'hi', '-v', 'v', '-o', 'hi.mp3']);
    for (let piece = 0; piece < 8; piece += 1) await fixture.server.advance();
    expect((await running.done).code).toBe(0);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
  });

  test('is spooled and not published when it stops', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    const error = await fixture.fail(['--idle-timeout', '700ms', '--max-retries', '3']);
    expectOneKey(fixture, 1);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
    expect(error.message).toBe('the response stalled: no data for 700 ms');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    const half = mp3.bytes.subarray(0, Math.floor(mp3.bytes.length / 2));
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(half);
  });
});
