import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MediaJobKind } from '../../../src/api/resources/models.ts';
import { MEDIA_JOB_KINDS } from '../../../src/api/resources/models.ts';
import * as faults from '../../fault-server/catalogue.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Answer } from '../../fault-server/script.ts';
import { errorLine } from '../../harness/error-line.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import { OPEN, createFixture } from '../../binary/support/fixture.ts';
import { everyNth, json } from '../../binary/voices/voice-fixture.ts';
import {
  CREATES,
  healthy,
  job,
  JOB_ID,
  leftIn,
  madeBy,
  onCreate,
  onPoll,
  onResult,
  PATHS,
  RESULT_PATH,
} from '../../binary/media-client/media-fixture.ts';

/** All kinds share their code: one is enough in the small size. */
const FAULTY = everyNth(4, [...MEDIA_JOB_KINDS].reverse());
const KEYED = everyNth(
  3,
  MEDIA_JOB_KINDS.filter((kind) => kind !== 'lipsync'),
);

const IMPORT_PROBLEM =
  /^the service could not import the video file, at the stage "download" \(50[34]\)/;
const IMPORT_HINT = 'Nothing was billed. Give another video file: the same request fails again.';

function nameOf(kind: MediaJobKind): string {
  return kind === 'image' ? 'a.png' : 'a.mp4';
}

function saving(kind: MediaJobKind): string[] {
  return [...CREATES[kind], '-o', nameOf(kind)];
}

function creates({ server }: Fixture, kind: MediaJobKind) {
  return server.requests.filter(
    ({ method, path: asked }) => method === 'POST' && asked === PATHS[kind],
  );
}

describe.each(MEDIA_JOB_KINDS)('%s create', (kind) => {
  test('waits, saves the result and reports it', async () => {
    const fixture = await createFixture(healthy(kind));
    const result = await fixture.run([...saving(kind), '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      id: JOB_ID,
      kind,
      api: 'v1',
      status: 'completed',
      output: nameOf(kind),
      requestId: 'r-pending',
      creditsUsed: 7,
      quotaRemaining: 90,
      ignoredParameters: null,
      target: 'hosted',
      raw: { data: { somethingNew: { from: 'a later service' } } },
    });
    const saved = await readFile(path.join(fixture.sandbox.out, nameOf(kind)));
    expect(saved.equals(madeBy(kind).bytes)).toBe(true);
    expect(await leftIn(fixture.sandbox)).toEqual([`out/${nameOf(kind)}`]);
    expect(result.stderr).toContain(`job ${JOB_ID} was accepted`);
  });

  test('prints the id and does not wait without -o or --wait', async () => {
    const fixture = await createFixture(healthy(kind));
    const result = await fixture.run(CREATES[kind]);
    expect([result.code, result.stdout.toString()]).toEqual([0, `${JOB_ID}\n`]);
    expect(fixture.server.requests).toHaveLength(1);
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });
});

describe.each(FAULTY)('%s create, with errors', (kind) => {
  test.each([
    [400, 20],
    [401, 4],
    [402, 21],
    [403, 4],
    [409, 20],
    [413, 20],
    [415, 20],
    [422, 20],
  ])('%d is exit %d at once', async (status, exitCode) => {
    const fixture = await createFixture([onCreate(kind, faults.errorAnswer(status))]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error).toMatchObject({ exitCode, status, billed: 'no' });
    expect(creates(fixture, kind)).toHaveLength(1);
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });

  test('a 429 is retried', async () => {
    const limited = onCreate(kind, faults.rateLimited('0'), { times: 1 });
    const fixture = await createFixture([limited, ...healthy(kind)]);
    const result = await fixture.run(saving(kind));
    expect(result.code, result.stderr).toBe(0);
    expect(creates(fixture, kind)).toHaveLength(2);
  });

  test.each([503, 504] as const)('a permanent %d is final', async (status) => {
    const fixture = await createFixture([onCreate(kind, faults.mediaImportFailed(status, false))]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error).toMatchObject({ exitCode: 23, status, details: { retryable: false } });
    expect(error).toMatchObject({ billed: 'no', hint: IMPORT_HINT });
    expect(error.message).toMatch(IMPORT_PROBLEM);
    expect(creates(fixture, kind)).toHaveLength(1);
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });

  test.each([503, 504] as const)('a %d of an import is transient', async (status) => {
    const later = onCreate(kind, faults.mediaImportFailed(status, true), { times: 1 });
    const fixture = await createFixture([later, ...healthy(kind)]);
    const result = await fixture.run(saving(kind));
    expect(result.code, result.stderr).toBe(0);
  });

  test('a response without a job may have been billed', async () => {
    const fixture = await createFixture([
      onCreate(kind, json({ success: true, data: { hello: 1 } })),
    ]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error).toMatchObject({ exitCode: 25, billed: 'unknown' });
    expect(await leftIn(fixture.sandbox)).toEqual([OPEN]);
  });

  test('a 404 of an endpoint that the schema document does not list is a missing capability', async () => {
    const document = { openapi: '3.1.0', paths: { '/api/open/v1/voices': { get: {} } } };
    const fixture = await createFixture([
      onCreate(kind, faults.errorAnswer(404)),
      { method: 'GET', path: '/api/openapi.json', answer: json(document) },
    ]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error).toMatchObject({ exitCode: 20, status: 404, billed: 'no' });
    expect(error.message).toContain('not available for this account');
  });

  test.each([
    ['lists it', json({ paths: { [PATHS[kind]]: { post: {} } } })],
    ['cannot be had', faults.errorAnswer(500)],
  ] as const)('a 404 stays a 404 when that document %s', async (_, document) => {
    const fixture = await createFixture([
      onCreate(kind, faults.errorAnswer(404, { message: 'No such voice.' })),
      { method: 'GET', path: '/api/openapi.json', answer: document },
    ]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error.message).toContain('No such voice.');
    expect(error.message).not.toContain('available');
  });

  test('a job that failed is exit 20, was refunded, and leaves nothing', async () => {
    const failed = job(kind, 'failed', {
      credits_used: 0,
      error: { code: 'ERR_GENERATION_FAILED', message: 'The worker gave up.' },
    });
    const fixture = await createFixture([onPoll(kind, failed), ...healthy(kind)]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error).toMatchObject({ exitCode: 20, code: 'ERR_GENERATION_FAILED', billed: 'no' });
    expect(error.message).toContain('The worker gave up.');
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });

  test('failed polls do not end the wait', async () => {
    const fixture = await createFixture([
      onPoll(kind, faults.resetBeforeHeaders(), { times: 1 }),
      onPoll(kind, faults.unavailable('0'), { times: 1 }),
      ...healthy(kind),
    ]);
    const result = await fixture.run(saving(kind));
    expect(result.code, result.stderr).toBe(0);
  });

  test.each<[string, (bytes: Buffer, type: string) => Answer]>([
    ['cut', (bytes, type) => faults.resetMidBody({ bytes, type })],
    ['short', (bytes, type) => faults.shortBody({ bytes, type })],
    [
      'short, and ends with the connection',
      (bytes, type) => faults.closeDelimitedShort({ bytes, type }),
    ],
    ['empty', (_, type) => answer(200, { 'Content-Type': type, 'Content-Length': '0' })],
    ['a page', () => faults.captivePortal()],
    ['of another type', (bytes) => answer(200, { 'Content-Type': 'text/plain' }, bytes)],
    ['something else', (_, type) => answer(200, { 'Content-Type': type }, 'This is no picture.')],
    [
      'without its end',
      (bytes, type) => answer(200, { 'Content-Type': type }, bytes.subarray(0, -9)),
    ],
  ])('a result that is %s is exit 25, and is not published', async (_, fault) => {
    const { bytes, type } = madeBy(kind);
    const fixture = await createFixture([onResult(fault(bytes, type)), ...healthy(kind)]);
    const flags = ['--max-retries', '0', '--json'];
    const error = errorLine(await fixture.run([...saving(kind), ...flags]));
    expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
    expect(error.hint).toContain(`foley ${kind} wait ${JOB_ID} -o ${nameOf(kind)}`);
    expect(await leftIn(fixture.sandbox)).toEqual([OPEN]);
    expect(fixture.server.requests.filter(({ path: asked }) => asked === RESULT_PATH)).toHaveLength(
      1,
    );
  });

  test('a deleted result is exit 27', async () => {
    const fixture = await createFixture([onResult(faults.errorAnswer(404)), ...healthy(kind)]);
    const error = errorLine(await fixture.run([...saving(kind), '--json']));
    expect(error).toMatchObject({ exitCode: 27, billed: 'yes' });
    expect(error.message).toContain('cost 7 credits');
  });

  test('the file storage gets no key', async () => {
    const store = await createFixture([
      onResult(answer(200, { 'Content-Type': madeBy(kind).type }, madeBy(kind).bytes)),
    ]);
    const elsewhere = job(kind, 'completed', {
      result_url: `${store.server.origin}${RESULT_PATH}?signature=s`,
    });
    const fixture = await createFixture([onPoll(kind, elsewhere), ...healthy(kind)]);
    const result = await fixture.run(saving(kind));
    expect(result.code, result.stderr).toBe(0);
    const [request] = store.server.requests;
    expect(request?.header('authorization')).toBeUndefined();
    expect(request?.header('idempotency-key')).toBeUndefined();
  });

  test('only --timeout limits the wait', async () => {
    const running = onPoll(kind, job(kind, 'processing'), { optional: true });
    const fixture = await createFixture([running, ...healthy(kind)]);
    const late = [...saving(kind), '--timeout', '50ms', '--poll-interval', '10ms', '--json'];
    const error = errorLine(await fixture.run(late));
    expect(error).toMatchObject({ exitCode: 28, billed: 'yes', details: { jobId: JOB_ID } });
    expect(error.hint).toContain(`foley ${kind} wait ${JOB_ID}`);
  });
});

describe.each(KEYED)('%s create, with a key', (kind) => {
  test.each<[string, Answer]>([
    ['no answer', faults.resetBeforeHeaders()],
    ['500', faults.errorAnswer(500)],
    ['503', faults.unavailable('0')],
    ['409 in progress', faults.requestInProgress('0')],
  ])('is retried with the same key after %s', async (_, fault) => {
    const fixture = await createFixture([onCreate(kind, fault, { times: 1 }), ...healthy(kind)]);
    const result = await fixture.run(CREATES[kind]);
    expect(result.code, result.stderr).toBe(0);
    const [first, second, ...more] = creates(fixture, kind);
    expect(more).toEqual([]);
    expect(first?.header('idempotency-key')).toMatch(/^[\w-]{16,}$/);
    expect(second?.header('idempotency-key')).toBe(first?.header('idempotency-key'));
    expect(second?.body).toEqual(first?.body);
  });

  test('uses another key once after a refund', async () => {
    const refunded = faults.requestPreviouslyRefunded();
    const fixture = await createFixture([onCreate(kind, refunded, { times: 1 }), ...healthy(kind)]);
    expect((await fixture.run(CREATES[kind])).code).toBe(0);
    const keys = creates(fixture, kind).map((request) => request.header('idempotency-key'));
    expect(new Set(keys).size).toBe(2);
    const mine = await createFixture([onCreate(kind, refunded)]);
    const own = [...CREATES[kind], '--idempotency-key', 'mine', '--json'];
    expect(errorLine(await mine.run(own))).toMatchObject({ exitCode: 20, billed: 'no' });
    expect(creates(mine, kind)).toHaveLength(1);
  });

  test('without a response names the key, and recover reports it too', async () => {
    const fixture = await createFixture([onCreate(kind, faults.resetBeforeHeaders())]);
    const error = errorLine(await fixture.run([...CREATES[kind], '--max-retries', '1', '--json']));
    const [request] = creates(fixture, kind);
    const key = request?.header('idempotency-key') ?? 'none';
    expect(error).toMatchObject({ exitCode: 26, billed: 'unknown' });
    expect(error.hint).toContain(`--idempotency-key ${key}`);
    const reported = await fixture.run(['recover']);
    expect([reported.code, reported.stdout.toString()]).toEqual([26, expect.stringContaining(key)]);
  });
});

describe('lipsync create, without a key', () => {
  test.each<[string, Answer, number]>([
    ['no answer', faults.resetBeforeHeaders(), 26],
    ['500', faults.errorAnswer(500), 23],
    ['504', faults.errorAnswer(504), 23],
  ])('is not retried after %s', async (_, fault, exitCode) => {
    const list = json({ data: { items: [] } });
    const fixture = await createFixture([
      onCreate('lipsync', fault),
      { method: 'GET', path: PATHS.lipsync, answer: list },
    ]);
    const error = errorLine(await fixture.run([...CREATES.lipsync, '--json']));
    expect(error).toMatchObject({ exitCode, billed: 'unknown' });
    expect(creates(fixture, 'lipsync')).toHaveLength(1);
    expect(creates(fixture, 'lipsync')[0]?.header('idempotency-key')).toBeUndefined();
    if (exitCode === 26) expect(error.hint).toContain('foley lipsync list');
    const reported = await fixture.run(['recover']);
    expect([reported.code, reported.stdout.toString()]).toEqual([
      26,
      expect.stringContaining('foley lipsync list'),
    ]);
  });

  test('sends the key of a user, and is still not retried', async () => {
    const fixture = await createFixture([onCreate('lipsync', faults.resetBeforeHeaders())]);
    const args = [...CREATES.lipsync, '--idempotency-key', 'mine', '--json'];
    expect(errorLine(await fixture.run(args))).toMatchObject({ exitCode: 26 });
    const keys = creates(fixture, 'lipsync').map((request) => request.header('idempotency-key'));
    expect(keys).toEqual(['mine']);
  });

  test('shows the billed duration', async () => {
    const billed = {
      billing_duration_seconds: 5,
      video_duration_seconds: 4.9,
      audio_duration_seconds: 12,
      billing_rule: 'shorter_input_rounded_up',
    };
    const pending = job('lipsync', 'pending', { code: 202, ...billed });
    const fixture = await createFixture([
      onCreate('lipsync', pending),
      onPoll('lipsync', job('lipsync', 'pending', billed)),
    ]);
    const { stderr } = await fixture.run(CREATES.lipsync);
    const reported = '5 s (shorter input rounded up; video 4.9 s, audio 12 s)';
    expect(stderr).toContain(`billed as ${reported}: 7 credits`);
    const got = await fixture.run(['lipsync', 'get', JOB_ID]);
    expect(got.stdout.toString()).toContain(reported);
  });
});
