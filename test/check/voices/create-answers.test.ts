import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { refusedOrigin } from '../../fault-server/fault-server.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Step } from '../../fault-server/steps.ts';
import { errorLine } from '../../harness/error-line.ts';
import { OPEN, createFixture } from '../../binary/support/fixture.ts';
import { putRecording } from '../../binary/voices/recordings.ts';
import { debrisIn, json, MADE, onCreate, VOICES_V1 } from '../../binary/voices/voice-fixture.ts';

const CREATE = ['voices', 'create', 'Ada', 'a.wav', '--json'] as const;

async function fail(reply: readonly Step[], ...flags: readonly string[]) {
  const fixture = await createFixture([onCreate(reply)]);
  await putRecording(fixture.sandbox, 'a.wav');
  const error = errorLine(await fixture.run([...CREATE, ...flags]));
  return {
    error,
    fixture,
    left: await debrisIn(fixture.sandbox),
    attempts: fixture.server.requests.length,
  };
}

describe('a refusal is reported once, and costs nothing', () => {
  test.each([
    [400, 20, 'rejected the request'],
    [401, 4, 'API key'],
    [409, 20, 'rejected the request'],
    [413, 20, 'too large'],
  ])('%d is exit %d', async (status, exitCode, message) => {
    const { attempts, error, left: files } = await fail(faults.errorAnswer(status));
    expect(error).toMatchObject({ exitCode, status, billed: 'no' });
    expect(error.message).toContain(message);
    expect([attempts, files]).toStrictEqual([1, []]);
  });

  test('402 says that there may be too many voices', async () => {
    const { error } = await fail(faults.errorAnswer(402));
    expect(error).toMatchObject({ exitCode: 21, billed: 'no' });
    expect(error.hint).toContain('foley voices delete ID');
  });

  test('429 with a long wait names the time', async () => {
    const { attempts, error } = await fail(faults.rateLimited('3600'));
    expect(error).toMatchObject({ exitCode: 22, retryAfter: 3600, billed: 'no' });
    expect(attempts).toBe(1);
  });
});

describe('what may have made the voice is never sent again', () => {
  test.each([500, 503])('%d is exit 23', async (status) => {
    const { attempts, error, left: files } = await fail(faults.errorAnswer(status));
    expect(error).toMatchObject({ exitCode: 23, status, billed: 'unknown' });
    expect([attempts, files]).toStrictEqual([1, [OPEN]]);
  });

  test.each<[string, readonly Step[]]>([
    ['is not JSON', answer(200, { 'Content-Type': 'text/html' }, '<p>fine</p>')],
    ['is broken JSON', answer(200, { 'Content-Type': 'application/json' }, '{"voiceId"')],
    ['names no voice', json({ title: 'Ada' })],
    ['is nothing', answer(204)],
  ])('an answer that %s is exit 25', async (_, reply) => {
    const { attempts, error, left: files } = await fail(reply);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
    expect([attempts, files]).toStrictEqual([1, [OPEN]]);
  });
});

describe('what cannot have made it is sent again', () => {
  test.each<[string, readonly Step[]]>([
    ['429', faults.rateLimited('0')],
    ['a 503 that says so', faults.errorAnswer(503, { details: { retryable: true } })],
  ])('after %s', async (_, reply) => {
    const fixture = await createFixture([onCreate(reply, { times: 1 }), onCreate()]);
    await putRecording(fixture.sandbox, 'a.wav');
    const result = await fixture.run(['voices', 'create', 'Ada', 'a.wav']);
    expect(result.code, result.stderr).toBe(0);
    const [first, second] = fixture.server.requests;
    expect(second?.body).toStrictEqual(first?.body);
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
  });

  test('without a server it exits with 24, and nothing stays open', async () => {
    const fixture = await createFixture([]);
    await putRecording(fixture.sandbox, 'a.wav');
    const env = { FOLEY_BASE_URL: await refusedOrigin() };
    const result = await fixture.run([...CREATE, '--max-retries', '0'], { env });
    expect(errorLine(result)).toMatchObject({ exitCode: 24, billed: 'no' });
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
  });
});

test('an id that a service sends is shown safely, and is data with --json', async () => {
  const voiceId = '\u001b]0;evil\u0007\u202e';
  const fixture = await createFixture([onCreate(json({ ...MADE, voiceId }))]);
  await putRecording(fixture.sandbox, 'a.wav');
  const result = await fixture.run(['voices', 'create', 'Ada', 'a.wav']);
  expect(result.stdout.toString()).toBe('\\x1b]0;evil\\x07\\u202e\n');
  expect(result.stderr).not.toContain('\u001b]');
});

async function recoverFrom(voices: readonly object[]) {
  const page = { items: voices, total: voices.length, page: 1, pageSize: 100, totalPages: 1 };
  const fixture = await createFixture([
    onCreate(faults.resetBeforeHeaders()),
    { method: 'GET', path: VOICES_V1, answer: json(page) },
  ]);
  await putRecording(fixture.sandbox, 'a.wav');
  expect(errorLine(await fixture.run(CREATE)).exitCode).toBe(26);
  return {
    recovered: await fixture.run(['recover', '--json']),
    left: await debrisIn(fixture.sandbox),
  };
}

function listed(voiceId: string, name: string, created_at?: string) {
  return { voiceId, title: name, isPersonal: true, created_at: created_at ?? inAMoment() };
}

/** Within the time that a create may take. */
function inAMoment(): string {
  return new Date(Date.now() + 60_000).toISOString();
}

describe('foley recover of a voice without an answer', () => {
  test('names the only one of its name and time that is listed', async () => {
    const { left, recovered } = await recoverFrom([
      listed('v-new', 'Ada'),
      listed('v-old', 'Ada', '2020-01-01T00:00:00Z'),
      listed('v-other', 'Ada Two'),
    ]);
    expect(recovered.code, recovered.stderr).toBe(0);
    expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
      items: [{ outcome: 'recovered', madeId: 'v-new' }],
    });
    expect(left).toEqual([]);
  });

  test('reports an unknown outcome where none fits', async () => {
    const { recovered } = await recoverFrom([listed('v-other', 'Ada Two')]);
    expect(recovered.code, recovered.stderr).toBe(26);
    expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
      items: [{ outcome: 'unknown', problem: expect.stringContaining('voices list') }],
    });
  });
});
