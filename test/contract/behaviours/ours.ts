import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimRefused, claimStatus, claimType } from '../claims.ts';
import { endOf, finishedJob, plainBody } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

const SIGNED_QUERY = ['expires', 'signature', 'download'].map((name) => `SignedAudioQuery.${name}`);
const JOBS_V1 = '/api/open/v1/speech/tts/jobs';

const REQUEST_ERROR = 'GET /api/open/requests/{requestId}/error';

/** A speech request of each body. */
const SPEECH = {
  SpeechRequest: 'POST /api/open/v3/speech/tts',
  SpeechRequestV2: 'POST /api/open/v2/speech/tts',
  SpeechRequestV1: 'POST /api/open/v1/speech/tts',
  JobRequestV1: `POST ${JOBS_V1}`,
};

const FAULTS = [
  { on: 'GET /healthz', status: 500, code: 'ERR_INTERNAL' },
  { on: 'GET /api/openapi.json', status: 501, code: 'ERR_NOT_IMPLEMENTED' },
  { on: 'GET /v1/audio/voices', status: 502, code: 'ERR_BAD_GATEWAY' },
  { on: 'GET /api/open/v1/voices', status: 503, code: 'ERR_SERVICE_UNAVAILABLE' },
  { on: 'GET /api/open/v3/voices', status: 504, code: 'ERR_GATEWAY_TIMEOUT' },
] as const;
const FAULT_FLAGS = FAULTS.flatMap(({ on, status }) => ['--fault', `${on}; status=${status}`]);

/** What the embedded service adds: where audio is for a while, its health, and faults on demand. */
export const ours: readonly Behaviour[] = [
  {
    id: 'ours.health',
    section: 'ours',
    on: 'GET /healthz',
    what: 'Answers without a key while the service does',
    async check(service) {
      requireOurs(service);
      claimStatus(
        await service.ask('GET /healthz', { headers: { Authorization: undefined } }),
        200,
      );
    },
  },
  {
    id: 'ours.request-error.none',
    section: 'ours',
    on: REQUEST_ERROR,
    what: '404 for a request that did not fail after its response began',
    async check(service) {
      requireOurs(service);
      const path = REQUEST_ERROR.replace('{requestId}', 'no-such-request');
      claimRefused(await service.ask(path), 404, 'ERR_NOT_FOUND', service);
    },
  },
  signed('GET /api/open/tts/cached/{audioId}', async (service) => {
    const body = { ...(await plainBody(service)), cache: true };
    const answer = await service.ask('POST /api/open/v1/speech/tts', { body });
    return new URL(String(at(answer.json(), 'audio_url')));
  }),
  signed('GET /api/open/tts/audio/{taskId}', async (service) => {
    const id = await finishedJob(service);
    const answer = await service.ask(`GET /api/open/tts/jobs/${id}/audio`);
    return new URL(answer.header('Location') ?? '', 'http://host');
  }),
  {
    id: 'ours.jobs-v1.error',
    section: 'ours',
    on: `GET ${JOBS_V1}/{taskId}`,
    what: 'A job that failed says why, in `task.error`',
    covers: ['JobV1.task.error.code', 'JobV1.task.error.message'],
    serve: ['--fault', `POST ${JOBS_V1}; job=fail`],
    spends: true,
    async check(service) {
      const created = await service.ask(`POST ${JOBS_V1}`, { body: await plainBody(service) });
      const id = String(at(created.json(), 'task.taskId'));
      assert.equal(await endOf(service, id), 'fail');
      const { task } = Object((await service.ask(`GET ${JOBS_V1}/${id}`)).json());
      assert.equal(task.error.code, 'ERR_GENERATION_FAILED');
      claimType(task.error.message, 'id', 'task.error.message');
    },
  },
  {
    id: 'ours.range',
    section: 'ours',
    on: 'GET /api/open/v3/speech/tts/jobs/{jobId}/audio',
    what: '`Range` gives a part of a stored file (206), 416 beyond its end; `If-None-Match` 304',
    covers: ['ERR_RANGE_NOT_SATISFIABLE'],
    spends: true,
    async check(service) {
      requireOurs(service);
      const on = `GET /api/open/v3/speech/tts/jobs/${await finishedJob(service)}/audio`;
      const whole = await service.ask(on);
      const part = await service.ask(on, { headers: { Range: 'bytes=10-19' } });
      claimStatus(part, 206);
      assert.deepEqual(part.bytes, whole.bytes.subarray(10, 20));
      assert.equal(part.header('Content-Range'), `bytes 10-19/${whole.bytes.length}`);
      const beyond = await service.ask(on, { headers: { Range: `bytes=${whole.bytes.length}-` } });
      claimRefused(beyond, 416, 'ERR_RANGE_NOT_SATISFIABLE', service);
      const etag = whole.header('ETag') ?? '';
      claimStatus(await service.ask(on, { headers: { 'If-None-Match': etag } }), 304);
    },
  },
  ...Object.entries(SPEECH).map(([of, on]) => pronounced(of, on)),
  ...FAULTS.map((fault) => faulty(fault)),
];

function pronounced(of: string, on: string): Behaviour {
  return {
    id: `ours.pronunciations.${of}`,
    section: 'ours',
    on,
    what: '`pronunciations` gives words of the text their phonemes; 400 for a sign that the voice does not speak, and for more or longer ones',
    covers: [
      `${of}.pronunciations`,
      'Pronunciation.word',
      'Pronunciation.phonemes',
      'PRONUNCIATIONS_MAX',
      'PRONOUNCED_WORD_MAX_CHARACTERS',
      'PHONEMES_MAX_CHARACTERS',
    ],
    spends: true,
    async check(service) {
      requireOurs(service);
      const body = await plainBody(service);
      const ask = (pronunciations: unknown) => {
        const headers = { 'Idempotency-Key': crypto.randomUUID() };
        return service.ask(on, { headers, body: { ...body, pronunciations } });
      };
      const hello = { word: 'hello', phonemes: 'həˈloʊ' };
      const most = Array.from({ length: 1_000 }, (_, index) => ({ ...hello, word: `w${index}` }));
      const longest = { word: 'w'.repeat(100), phonemes: 'ə'.repeat(200) };
      for (const good of [[], [hello], most, [longest]]) {
        assert.ok([200, 202].includes((await ask(good)).status));
      }
      for (const bad of [
        [{ ...hello, phonemes: 'həˈʘoʊ' }],
        [...most, hello],
        [{ ...longest, word: `${longest.word}w` }],
        [{ ...longest, phonemes: `${longest.phonemes}ə` }],
        [{ ...hello, word: '' }],
        [{ ...hello, phonemes: '' }],
        [{ word: 'hello' }],
        hello,
      ]) {
        claimRefused(await ask(bad), 400, 'ERR_INVALID_REQUEST', service);
      }
    },
  };
}

/** An address with a signature: good without a key, and not to be made up. */
function signed(on: string, addressOf: (service: ServiceUnderTest) => Promise<URL>): Behaviour {
  return {
    id: `ours.${on.includes('cached') ? 'cached' : 'signed'}`,
    section: 'ours',
    on,
    what: 'Gives the audio without a key, `download=1` to be saved; 403 for a signature or a time that was not given, 400 without them',
    covers: [...SIGNED_QUERY, 'ERR_FORBIDDEN'],
    spends: true,
    async check(service) {
      requireOurs(service);
      const url = await addressOf(service);
      const ask = async (change: Readonly<Record<string, string>>) => {
        const query = { ...Object.fromEntries(url.searchParams), ...change };
        return service.ask(`GET ${url.pathname}`, { query, headers: { Authorization: undefined } });
      };
      claimAudio(await ask({}));
      claimRefused(await ask({ signature: 'made-up' }), 403, 'ERR_FORBIDDEN', service);
      claimRefused(await ask({ expires: '99999999999' }), 403, 'ERR_FORBIDDEN', service);
      const bare = await service.ask(`GET ${url.pathname}`);
      claimRefused(bare, 400, 'ERR_INVALID_REQUEST', service);
    },
  };
}

function faulty({ on, status, code }: (typeof FAULTS)[number]): Behaviour {
  return {
    id: `ours.fault.${status}`,
    section: 'ours',
    on,
    what: `\`foley serve --fault "${on}; status=${status}"\` answers it with \`${code}\` in the error body`,
    covers: [code],
    serve: FAULT_FLAGS,
    check: async (service) => claimRefused(await service.ask(on), status, code, service),
  };
}

function requireOurs({ isOurs }: ServiceUnderTest): void {
  if (!isOurs) throw new NotApplicable('the spec does not have it');
}
