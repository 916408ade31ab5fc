import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus, claimType } from '../claims.ts';
import { modelsOf, read } from '../facts.ts';

const CAPABILITIES = 'GET /api/open/v3/speech/tts/capabilities';

/** The models of the spec, which the embedded service has all. */
const MODELS =
  'vendor-s21pro vendor-s21pro-flash vendor-s21pro-free vendor-s21-flash vendor-s2pro vendor-s1 altA-2.8-turbo altA-2.8-hd altA-2.6-turbo altA-2.6-hd altB3-tts-flash altB-audio-3.0-tts-plus altB-audio-3.0-tts-flash altC-v3-flash altD-tts-2.0 altE-3.8-flash-tts altE-3.8-flash-lite-tts altF-flash-v2.5 altF-multilingual-v2';

/** Models, schemas and the body of errors (docs/api/README.md). */
export const documents: readonly Behaviour[] = [
  {
    id: 'models.ids',
    section: 'models',
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
    section: 'models',
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
    section: 'account',
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
    section: 'account',
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
    section: 'errors',
    on: 'GET /api/open/v3/voices/{voiceId}',
    what: 'An error is flat JSON with `code`, `message` and `requestId`, which is the trace id',
    covers: ['Error.code', 'Error.message', 'Error.requestId'],
    async check(service) {
      const headers = { 'X-Request-Id': 'trace-of-an-error' };
      const answer = await service.ask('GET /api/open/v3/voices/unknown', { headers });
      claimRefused(answer, 404, 'ERR_VOICE_NOT_FOUND', service);
      assert.match(answer.header('Content-Type') ?? '', /^application\/json/);
      assert.equal(at(answer.json(), 'requestId'), 'trace-of-an-error');
    },
  },
  {
    id: 'errors.details',
    section: 'errors',
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
    section: 'errors',
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
    section: 'authentication',
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
