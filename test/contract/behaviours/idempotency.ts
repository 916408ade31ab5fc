import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimRefused, claimStatus, claimType } from '../claims.ts';
import { creditsOf, freshKey, plainBody } from '../facts.ts';

interface Keyed {
  readonly id: string;
  readonly on: string;
  /** The header that is the key there. */
  readonly header: string;
}

const V3 = 'POST /api/open/v3/speech/tts';
const V2 = 'POST /api/open/v2/speech/tts';
const V1 = 'POST /api/open/v1/speech/tts';
const JOBS_V3 = 'POST /api/open/v3/speech/tts/jobs';
const JOBS_V1 = 'POST /api/open/v1/speech/tts/jobs';

const SYNC: readonly Keyed[] = [
  { id: 'tts-v3', on: V3, header: 'Idempotency-Key' },
  { id: 'tts-v2', on: V2, header: 'X-Request-Id' },
  { id: 'tts-v2', on: V2, header: 'Idempotency-Key' },
  { id: 'tts-v1', on: V1, header: 'X-Request-Id' },
  { id: 'tts-v1', on: V1, header: 'Idempotency-Key' },
];
const JOBS: readonly Keyed[] = [
  { id: 'jobs-v3', on: JOBS_V3, header: 'Idempotency-Key' },
  { id: 'jobs-v1', on: JOBS_V1, header: 'X-Request-Id' },
  { id: 'jobs-v1', on: JOBS_V1, header: 'Idempotency-Key' },
];

/** Every row of section 7.2 that a client can bring about, on both header names. */
export const idempotency: readonly Behaviour[] = [
  ...SYNC.map((keyed) => completed(keyed)),
  ...[...SYNC, ...JOBS].map((keyed) => conflict(keyed)),
  ...SYNC.map((keyed) => inProgress(keyed)),
  ...JOBS.map((keyed) => replayed(keyed)),
  ...JOBS.map((keyed) => atOnce(keyed)),
  ...[...SYNC, ...JOBS]
    .filter(({ header }) => header === 'Idempotency-Key')
    .map((keyed) => length(keyed)),
  refunded(),
  cached(),
  notAKey(),
  unusedByRefusal(),
];

function row({ id, on, header }: Keyed, name: string, what: string): Omit<Behaviour, 'check'> {
  return {
    id: `${id}.${header === 'Idempotency-Key' ? 'key' : 'request-id'}.${name}`,
    section: 'errors#idempotency',
    on,
    what: `Same \`${header}\`: ${what}`,
    spends: true,
    covers: [header],
  };
}

function completed(keyed: Keyed): Behaviour {
  const code = 'ERR_REQUEST_ALREADY_COMPLETED';
  return {
    ...row(keyed, 'completed', `a completed request is 409 \`${code}\`, and nothing is charged`),
    covers: [keyed.header, code],
    async check(service) {
      const options = { headers: { [keyed.header]: freshKey() }, body: await plainBody(service) };
      claimAudio(await service.ask(keyed.on, options));
      const before = await creditsOf(service);
      claimRefused(await service.ask(keyed.on, options), 409, code, service);
      assert.equal(await creditsOf(service), before);
    },
  };
}

function conflict(keyed: Keyed): Behaviour {
  const code = 'ERR_REQUEST_ID_CONFLICT';
  return {
    ...row(keyed, 'conflict', `another body is 409 \`${code}\`, and nothing is charged`),
    covers: [keyed.header, code],
    async check(service) {
      const headers = { [keyed.header]: freshKey() };
      const body = await plainBody(service);
      claimStatus(await service.ask(keyed.on, { headers, body }), 200, 202);
      const before = await creditsOf(service);
      const other = { ...body, text: 'Something else.' };
      claimRefused(await service.ask(keyed.on, { headers, body: other }), 409, code, service);
      assert.equal(await creditsOf(service), before);
    },
  };
}

function inProgress(keyed: Keyed): Behaviour {
  const code = 'ERR_REQUEST_IN_PROGRESS';
  return {
    ...row(
      keyed,
      'in-progress',
      `a request in progress is 409 \`${code}\`; ten at once are charged once`,
    ),
    covers: [keyed.header, code],
    async check(service) {
      const options = { headers: { [keyed.header]: freshKey() }, body: await plainBody(service) };
      const before = await creditsOf(service);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => service.ask(keyed.on, options)),
      );
      const [spoken, ...others] = answers.toSorted((one, other) => one.status - other.status);
      claimStatus(spoken ?? assert.fail('no answer'), 200);
      for (const answer of others) {
        claimStatus(answer, 409);
        const given = at(answer.json(), 'code');
        assert.ok(given === code || given === 'ERR_REQUEST_ALREADY_COMPLETED', String(given));
      }
      const paid = Number(spoken?.header('X-OpenAPI-Credits-Used'));
      assert.equal(before - (await creditsOf(service)), paid);
    },
  };
}

function replayed(keyed: Keyed): Behaviour {
  return {
    ...row(keyed, 'replay', 'an identical create gives the same task, and is not billed again'),
    async check(service) {
      const options = { headers: { [keyed.header]: freshKey() }, body: await plainBody(service) };
      const first = await service.ask(keyed.on, options);
      const before = await creditsOf(service);
      const second = await service.ask(keyed.on, options);
      claimStatus(second, 202);
      assert.equal(taskOf(second.json()), taskOf(first.json()));
      assert.equal(await creditsOf(service), before);
    },
  };
}

function atOnce(keyed: Keyed): Behaviour {
  return {
    ...row(keyed, 'at-once', 'twenty identical creates at once give one task and one charge'),
    async check(service) {
      const options = { headers: { [keyed.header]: freshKey() }, body: await plainBody(service) };
      const before = await creditsOf(service);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => service.ask(keyed.on, options)),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
      assert.equal(new Set(answers.map((answer) => taskOf(answer.json()))).size, 1);
      const charge = Number(at(answers[0]?.json(), 'creditsUsed'));
      assert.equal(before - (await creditsOf(service)), charge);
    },
  };
}

function length(keyed: Keyed): Behaviour {
  return {
    ...row(keyed, 'length', 'may have 128 characters; one more is 400'),
    section: 'limits',
    what: '`Idempotency-Key` may have 128 characters; one more is 400',
    covers: [keyed.header, 'IDEMPOTENCY_KEY_MAX_CHARACTERS'],
    async check(service) {
      const body = await plainBody(service);
      const key = freshKey().padEnd(128, 'x');
      claimStatus(
        await service.ask(keyed.on, { headers: { [keyed.header]: key }, body }),
        200,
        202,
      );
      const headers = { [keyed.header]: `${key}x` };
      claimRefused(
        await service.ask(keyed.on, { headers, body }),
        400,
        'ERR_INVALID_REQUEST',
        service,
      );
    },
  };
}

/** Of a fault: the job fails, is refunded, and its create still gives the same task. */
function refunded(): Behaviour {
  return {
    id: 'jobs-v3.key.refunded',
    section: 'errors#idempotency',
    on: JOBS_V3,
    what: 'The same create of a job that failed gives the same task; what was set aside is given back once',
    serve: ['--fault', `${JOBS_V3}; job=fail`],
    spends: true,
    async check(service) {
      const options = {
        headers: { 'Idempotency-Key': freshKey() },
        body: await plainBody(service),
      };
      const before = await creditsOf(service);
      const first = taskOf((await service.ask(JOBS_V3, options)).json());
      for (let status = 'pending'; status !== 'fail';) {
        const job = await service.ask(`GET /api/open/v3/speech/tts/jobs/${first}`);
        status = String(at(job.json(), 'task.status'));
        assert.notEqual(status, 'success');
      }
      assert.equal(taskOf((await service.ask(JOBS_V3, options)).json()), first);
      assert.equal(await creditsOf(service), before);
    },
  };
}

function cached(): Behaviour {
  return {
    id: 'tts-v1.cache.replay',
    section: 'errors#idempotency',
    on: V1,
    what: 'Same `X-Request-Id` with `cache: true`: the JSON answer again, and no new charge',
    covers: ['CachedSpeech.audio_url'],
    spends: true,
    async check(service) {
      const headers = { 'X-Request-Id': freshKey() };
      const body = { ...(await plainBody(service)), cache: true };
      const first = await service.ask(V1, { headers, body });
      claimStatus(first, 200);
      const before = await creditsOf(service);
      assert.deepEqual((await service.ask(V1, { headers, body })).json(), first.json());
      assert.equal(await creditsOf(service), before);
    },
  };
}

function notAKey(): Behaviour {
  return {
    id: 'tts-v3.request-id.no-key',
    section: 'versions',
    on: V3,
    what: '`X-Request-Id` and `Idempotency-Key` are apart: the same trace id with two keys is two requests',
    spends: true,
    async check(service) {
      const body = await plainBody(service);
      for (const key of [freshKey(), freshKey()]) {
        const headers = { 'X-Request-Id': 'the-same-trace', 'Idempotency-Key': key };
        claimAudio(await service.ask(V3, { headers, body }));
      }
    },
  };
}

function unusedByRefusal(): Behaviour {
  return {
    id: 'tts-v3.key.unused',
    section: 'errors#idempotency',
    on: V3,
    what: 'A request that was refused uses its key up for nothing: validation and authentication are not charged',
    spends: true,
    async check(service) {
      const body = await plainBody(service);
      const key = { 'Idempotency-Key': freshKey() };
      const before = await creditsOf(service);
      claimStatus(await service.ask(V3, { headers: key, body: { ...body, speed: 9 } }), 400);
      const headers = { ...key, Authorization: 'Bearer unknown' };
      claimStatus(await service.ask(V3, { headers, body }), 401);
      assert.equal(await creditsOf(service), before);
      claimAudio(await service.ask(V3, { headers: key, body }));
    },
  };
}

function taskOf(body: unknown): string {
  const id = at(body, 'task.taskId');
  claimType(id, 'id', 'task.taskId');
  return String(id);
}
