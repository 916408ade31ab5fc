import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { canaryKey } from '../../harness/canary.ts';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { VOICE } from '../../binary/support/fixture.ts';
import { SURFACES, surfaceFixture } from './surface-fixture.ts';
import type { SurfaceFixture } from './surface-fixture.ts';

const STORED = '/stored/a.mp3?signature=secret';
const WITH_RETRIES = ['tts', 'Hi', '-o', 'hi.mp3', '--api', 'v1', '--cache', '--max-retries'];
const WORDS = [...WITH_RETRIES, '0'];

/** Answers the request with an address, which is made from the address that was asked. */
function address(of: (origin: string) => string = (origin) => origin + STORED): Rule {
  return {
    method: 'POST',
    path: SURFACES.v1.path,
    answer: (request) => {
      const audio_url = of(`http://${request.header('host')}`);
      const body = { audio_url, credits_used: 3, quota_remaining: 97 };
      return answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(body));
    },
  };
}

function stored(reply: Answer): Rule {
  return { method: 'GET', path: '/stored/a.mp3', answer: reply };
}

async function sound() {
  const { mp3 } = await tinyAudio();
  return { mp3, good: faults.audio(mp3) };
}

async function fileOf({ sandbox }: SurfaceFixture): Promise<Buffer> {
  return readFile(path.join(sandbox.out, 'hi.mp3'));
}

describe('foley tts --api v1 --cache', () => {
  test('asks for an address, and fetches the audio from there', async () => {
    const { mp3, good } = await sound();
    const fixture = await surfaceFixture([address(), stored(good)]);
    const result = await fixture.run([...WORDS, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(fixture.bodyOf('v1')).toStrictEqual({
      text: 'Hi',
      voiceId: VOICE,
      format: 'mp3',
      cache: true,
    });
    expect(await fileOf(fixture)).toEqual(mp3.bytes);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      output: 'hi.mp3',
      creditsUsed: 3,
      quotaRemaining: 97,
      ignoredParameters: null,
      requestId: fixture.requests('v1')[0]?.header('x-request-id'),
    });
    const [, download] = fixture.server.requests;
    expect(download?.target).toBe(STORED);
    expect(download?.header('authorization')).toBe(`Bearer ${fixture.env['FOLEY_API_KEY']}`);
  });

  test('sends no key to another host', async () => {
    const { mp3, good } = await sound();
    const other = await startFaultServer([stored(good)]);
    const fixture = await surfaceFixture([address(() => other.origin + STORED)]);
    const result = await fixture.run(WORDS);
    expect(result.code, result.stderr).toBe(0);
    expect(await fileOf(fixture)).toEqual(mp3.bytes);
    const [request] = other.requests;
    expect(request?.header('authorization')).toBeUndefined();
    expect(request?.header('x-request-id')).toBeUndefined();
  });

  test('takes an address without a host, and bytes of no type', async () => {
    const { mp3 } = await sound();
    const opaque = faults.wrongType(mp3, 'application/octet-stream');
    const fixture = await surfaceFixture([address(() => STORED), stored(opaque)]);
    const result = await fixture.run(WORDS);
    expect(result.code, result.stderr).toBe(0);
    expect(await fileOf(fixture)).toEqual(mp3.bytes);
  });

  test('takes audio where the service answers with audio all the same', async () => {
    const fixture = await surfaceFixture();
    const result = await fixture.run(WORDS);
    expect(result.code, result.stderr).toBe(0);
    expect((await decodeAudio(await fileOf(fixture))).format).toBe('mp3');
  });

  test('fetches again what did not come', async () => {
    const { good } = await sound();
    const fixture = await surfaceFixture([
      address(),
      { ...stored(faults.errorAnswer(503, { retryAfter: '0' })), nth: 1 },
      stored(good),
    ]);
    const result = await fixture.run([...WITH_RETRIES, '2']);
    expect(result.code, result.stderr).toBe(0);
    expect(fixture.requests('v1')).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['is not there', faults.errorAnswer(404)],
    ['is not to be had now', faults.errorAnswer(503)],
    ['does not answer', faults.resetBeforeHeaders()],
    ['is no audio', faults.captivePortal()],
    ['is empty', faults.emptyBody()],
  ])('that %s is paid for, and the same command fetches it', async (_how, reply) => {
    const fixture = await surfaceFixture([address(), stored(reply)]);
    const error = errorLine(await fixture.run([...WORDS, '--idempotency-key', 'k-1', '--json']));
    expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
    expect(error.hint).toContain('--idempotency-key k-1');
    expect(error.hint).not.toContain('is lost');
    expect(error.details).toMatchObject({ audio_url: expect.stringContaining('/stored/a.mp3') });
    const recovered = await fixture.run(['recover', '--max-retries', '0']);
    expect(recovered.code).toBe(25);
    expect(recovered.stdout.toString()).toContain('--idempotency-key k-1');
    expect(fixture.requests('v1')).toHaveLength(2);
  });

  test('never shows the signature of the address to a person', async () => {
    const fixture = await surfaceFixture([address(), stored(faults.errorAnswer(404))]);
    const result = await fixture.run([...WORDS, '--verbose']);
    expect(result.code).toBe(25);
    expect(result.stderr).not.toContain('signature=secret');
  });

  test.each([
    ['an ftp address', () => 'ftp://files.example/a.mp3'],
    ['plain http to a stranger', () => 'http://files.example/a.mp3'],
    ['nothing', () => ''],
  ])('of which the address is %s is exit 25', async (_what, of) => {
    const fixture = await surfaceFixture([address(of)]);
    const error = errorLine(await fixture.run([...WORDS, '--json']));
    expect(error.exitCode).toBe(25);
    expect(error.billed).not.toBe('no');
  });

  test.each(['v3', 'v2', 'compat-tts'])('is not for %s: exit 2', async (surface) => {
    const fixture = await surfaceFixture();
    const result = await fixture.run(['tts', 'Hi', '--cache', '--api', surface]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`--cache works with --api v1 only`);
    expect(fixture.server.connections).toBe(0);
  });
});

describe('on the embedded service', () => {
  test('the same request again fetches the same audio, and is not charged again', async () => {
    const args = ['tts', 'Hello there.', '--api', 'v1', '--cache', '--local', '--json'];
    const key = ['--idempotency-key', canaryKey().slice(0, 20)];
    const first = await runFoley([...args, ...key, '-o', 'one.mp3']);
    expect(first.code, first.stderr).toBe(0);
    const { sandbox } = first;
    const second = await runFoley([...args, ...key, '-o', 'two.mp3'], { sandbox });
    expect(second.code, second.stderr).toBe(0);
    const told = Object(parseJsonDocument(second.stdout));
    expect(told).toMatchObject({ creditsUsed: 6 });
    const profile = await runFoley(['profile', '--local', '--json'], { sandbox });
    expect(parseJsonDocument(profile.stdout)).toMatchObject({
      api_quota_remaining: told.quotaRemaining,
    });
    const [one, two] = await Promise.all(
      ['one.mp3', 'two.mp3'].map((name) => readFile(path.join(sandbox.out, name))),
    );
    expect(one).toEqual(two);
    expect((await decodeAudio(two ?? Buffer.alloc(0))).durationMs).toBeGreaterThan(400);
  });

  test('a stream is answered from the store as well', async () => {
    const result = await runFoley(['tts', 'Hello there.', '--api', 'v1', '--cache', '--local']);
    expect(result.code, result.stderr).toBe(0);
    expect((await decodeAudio(result.stdout)).format).toBe('mp3');
  });
});
