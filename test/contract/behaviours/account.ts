import assert from 'node:assert/strict';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus, claimType } from '../claims.ts';
import { creditsOf, modelsOf, read } from '../facts.ts';

const PROFILE = '/api/open/v1/profile';
const CAPABILITIES = 'GET /api/open/v3/speech/tts/capabilities';

/** Every endpoint that needs a key, with a path that could be right. */
const KEYED = [
  'GET /api/open/v3/voices',
  'GET /api/open/v3/voices/nobody',
  'POST /api/open/v3/speech/tts',
  'POST /api/open/v3/speech/tts/jobs',
  'GET /api/open/v3/speech/tts/jobs',
  'GET /api/open/v3/speech/tts/jobs/nothing',
  'GET /api/open/v3/speech/tts/jobs/nothing/audio',
  'GET /api/open/v3/speech/tts/jobs/nothing/segments/0',
  'POST /api/open/v2/speech/tts',
  'POST /api/open/v1/speech/tts',
  'POST /api/open/v1/speech/tts/jobs',
  'GET /api/open/v1/speech/tts/jobs',
  'GET /api/open/v1/speech/tts/jobs/nothing',
  'GET /api/open/tts/jobs/nothing/audio',
  'POST /v1/tts',
  'POST /v1/audio/speech',
  'GET /v1/audio/voices',
  'GET /api/open/v1/voices',
  'POST /api/open/list-models',
  'GET /api/open/v1/profile',
  'POST /api/open/v1/profile',
  'GET /api/openapi.json',
] as const;

const BAD_KEYS: readonly (readonly [string, string | undefined])[] = [
  ['a missing key', undefined],
  ['a malformed one', 'Basic Zm9sZXk6Zm9sZXk='],
  ['one without a value', 'Bearer'],
  ['one that nobody has', 'Bearer no-such-key'],
];

/** Keys, profile, capabilities and documents (spec sections 2.2, 2.9, 4.9 and 5). */
export const account: readonly Behaviour[] = [
  ...KEYED.map((on) => needsKey(on)),
  ...[CAPABILITIES, 'GET /api/open/v3/openapi.json'].map((on) => isPublic(on)),
  ...answerFields(
    {
      of: 'Capabilities',
      section: '2.2',
      on: CAPABILITIES,
      sample: async (service) => (await read(service, CAPABILITIES)).json(),
    },
    [
      ['contractVersion', 'id', 'version of the contract'],
      ['route', 'id', 'the route of speech'],
      ['models', 'list', 'every model'],
    ],
  ),
  ...answerFields(
    {
      of: 'Model',
      section: '2.2',
      on: CAPABILITIES,
      sample: async (service) => (await modelsOf(service))[0],
    },
    [
      ['id', 'id', 'public model id'],
      ['available', 'boolean', 'only then it may be used'],
      ['maxTextLength', 'integer', 'longest text'],
      ['outputFormats', 'string[]', 'formats that it makes'],
      ['controls', 'object', 'which controls it applies'],
      ['controls.speed', 'boolean', 'speed'],
      ['controls.volume', 'boolean', 'volume'],
      ['controls.pitch', 'boolean', 'pitch'],
      ['controls.stability', 'boolean', 'stability'],
      ['controls.similarity', 'boolean', 'similarity'],
      ['supportedOperations', 'object', 'how it can be used'],
      ['supportedOperations.synchronous', 'boolean', 'at once'],
      ['supportedOperations.asynchronous', 'boolean', 'as jobs'],
      ['supportedOperations.alignedStreaming', 'boolean', 'with word times'],
    ],
  ),
  ...answerFields(
    {
      of: 'Profile',
      section: '2.9',
      on: `GET ${PROFILE}`,
      sample: async (service) => (await service.ask(`GET ${PROFILE}`)).json(),
    },
    [
      ['user_id', 'id', 'account id'],
      ['api_quota_remaining', 'integer', 'quota that is left'],
      ['tier', 'string', 'tier'],
      ['credits', 'number', 'credits that are left'],
    ],
  ),
  ...profile(),
  ...documents(),
];

function needsKey(on: string): Behaviour {
  return {
    id: `auth.${on.toLowerCase().replace(' /', '.').replaceAll('/', '-')}`,
    section: '5',
    on: on.replace('nobody', '{voiceId}').replace('nothing', '{jobId}'),
    what: '401 for a missing, malformed or unknown key, and nothing is charged',
    covers: ['ERR_UNAUTHORIZED'],
    async check(service) {
      const before = await creditsOf(service);
      for (const [what, Authorization] of BAD_KEYS) {
        const options = {
          headers: { Authorization },
          ...(on.startsWith('POST') ? { body: {} } : {}),
        };
        const answer = await service.ask(on, options);
        assert.equal(answer.status, 401, what);
        claimRefused(answer, 401, 'ERR_UNAUTHORIZED', service);
      }
      assert.equal(await creditsOf(service), before);
    },
  };
}

function isPublic(on: string): Behaviour {
  return {
    id: `public.${on.split('/').at(-1)}`,
    section: '5',
    on,
    what: 'Needs no key',
    async check(service) {
      claimStatus(await service.ask(on, { headers: { Authorization: undefined } }), 200);
    },
  };
}

function profile(): readonly Behaviour[] {
  const on = `POST ${PROFILE}`;
  return [
    {
      id: 'profile.webhook',
      section: '4.9',
      on,
      what: '`webhookUrl` is stored and shown from then on',
      covers: ['ProfileUpdate.webhookUrl', 'Profile.webhookUrl'],
      spends: true,
      async check(service) {
        const webhookUrl = 'https://hooks.example/speech';
        claimStatus(await service.ask(on, { body: { webhookUrl } }), 200);
        assert.equal(at((await service.ask(`GET ${PROFILE}`)).json(), 'webhookUrl'), webhookUrl);
      },
    },
    {
      id: 'profile.webhook.refuses',
      section: '4.9',
      on,
      what: '`webhookUrl` is the address of a web server: 400 for anything else',
      covers: ['ProfileUpdate.webhookUrl', 'WEBHOOK_URL_MAX_CHARACTERS'],
      async check(service) {
        const long = `https://hooks.example/${'x'.repeat(2_048)}`;
        for (const webhookUrl of [
          '',
          'no address',
          'file:///etc/hosts',
          7,
          ...(service.isOurs ? [long] : []),
        ]) {
          claimRefused(
            await service.ask(on, { body: { webhookUrl } }),
            400,
            'ERR_INVALID_REQUEST',
            service,
          );
        }
      },
    },
    {
      id: 'profile.unknown',
      section: '4.9',
      on,
      what: 'Unknown fields are ignored or rejected; credits cannot be set',
      async check(service) {
        const before = await creditsOf(service);
        claimStatus(await service.ask(on, { body: { credits: before + 1 } }), 200, 400);
        assert.equal(await creditsOf(service), before);
      },
    },
  ];
}

/** The models of the spec, which the embedded service has all. */
const MODELS =
  'vendor-s21pro vendor-s21pro-flash vendor-s21pro-free vendor-s21-flash vendor-s2pro vendor-s1 altA-2.8-turbo altA-2.8-hd altA-2.6-turbo altA-2.6-hd altB3-tts-flash altB-audio-3.0-tts-plus altB-audio-3.0-tts-flash altC-v3-flash altD-tts-2.0 altE-3.8-flash-tts altE-3.8-flash-lite-tts altF-flash-v2.5 altF-multilingual-v2';

function documents(): readonly Behaviour[] {
  return [
    {
      id: 'models.ids',
      section: '2.3',
      on: CAPABILITIES,
      what: 'Every model of the table is listed; availability depends on site and account',
      async check(service) {
        const ids = (await modelsOf(service)).map(({ id }) => id);
        const known = new Set(MODELS.split(' '));
        if (service.isOurs) assert.deepEqual(new Set(ids), known);
        else assert.ok(ids.some((id) => known.has(id)));
      },
    },
    {
      id: 'models.limits',
      section: '2.2',
      on: CAPABILITIES,
      what: 'No model takes more than 10,000 characters, or makes a format that the API has not',
      covers: ['TEXT_MAX_CHARACTERS'],
      async check(service) {
        for (const { maxTextLength, outputFormats } of await modelsOf(service)) {
          assert.ok(maxTextLength >= 1 && maxTextLength <= 10_000);
          assert.ok(outputFormats.every((format) => ['mp3', 'wav', 'ogg'].includes(format)));
        }
      },
    },
    {
      id: 'openapi.v3',
      section: '4.1',
      on: 'GET /api/open/v3/openapi.json',
      what: 'An OpenAPI 3.1 document that has the endpoints of v3',
      async check(service) {
        const document = (await read(service, 'GET /api/open/v3/openapi.json')).json();
        assert.match(String(at(document, 'openapi')), /^3\.1\./);
        assert.ok(
          Object.keys(Object(at(document, 'paths'))).some((path) => path.endsWith('/speech/tts')),
        );
      },
    },
    {
      id: 'openapi.v1',
      section: '4.9',
      on: 'GET /api/openapi.json',
      what: 'A machine-readable schema',
      async check(service) {
        const answer = await service.ask('GET /api/openapi.json');
        claimStatus(answer, 200);
        claimType(at(answer.json(), 'openapi'), 'id', 'openapi');
      },
    },
    {
      id: 'errors.envelope',
      section: '7',
      on: 'GET /api/open/v3/voices/{voiceId}',
      what: 'An error is flat JSON with `code`, `message` and `requestId`, which is the trace id',
      covers: ['Error.code', 'Error.message', 'Error.requestId'],
      async check(service) {
        const headers = { 'X-Request-Id': 'trace-of-an-error' };
        const answer = await service.ask('GET /api/open/v3/voices/nobody', { headers });
        claimRefused(answer, 404, 'ERR_VOICE_NOT_FOUND', service);
        assert.match(answer.header('Content-Type') ?? '', /^application\/json/);
        assert.equal(at(answer.json(), 'requestId'), 'trace-of-an-error');
      },
    },
    {
      id: 'errors.details',
      section: '7',
      on: 'POST /api/open/v3/speech/tts',
      what: 'Some errors add `details`; ours of a body list every field that is wrong',
      covers: ['Error.details', 'ERR_INVALID_REQUEST'],
      async check(service) {
        const answer = await service.ask('POST /api/open/v3/speech/tts', { body: { speed: 9 } });
        claimStatus(answer, 400);
        if (service.isOurs) assert.equal(Object(at(answer.json(), 'details.errors')).length, 3);
      },
    },
    {
      id: 'errors.no-endpoint',
      section: '7',
      on: 'any path',
      what: 'A path that there is not is 404 in the same body; a method that it has not, 405 (ours)',
      covers: ['ERR_NOT_FOUND', 'ERR_METHOD_NOT_ALLOWED'],
      async check(service) {
        claimRefused(await service.ask('GET /api/open/v3/nothing'), 404, 'ERR_NOT_FOUND', service);
        if (!service.isOurs) return;
        const answer = await service.ask('DELETE /api/open/v3/voices');
        claimRefused(answer, 405, 'ERR_METHOD_NOT_ALLOWED', service);
        assert.match(answer.header('Allow') ?? '', /GET/);
      },
    },
    {
      id: 'errors.media-type',
      section: '5',
      on: 'POST /api/open/v3/speech/tts',
      what: 'A JSON request says so: 415 for another `Content-Type` (ours)',
      covers: ['ERR_UNSUPPORTED_MEDIA_TYPE'],
      async check(service) {
        const headers = { 'Content-Type': 'text/plain' };
        const answer = await service.ask('POST /api/open/v3/speech/tts', { headers, bytes: '{}' });
        claimStatus(answer, 400, 415);
        if (service.isOurs) claimRefused(answer, 415, 'ERR_UNSUPPORTED_MEDIA_TYPE', service);
      },
    },
  ];
}
