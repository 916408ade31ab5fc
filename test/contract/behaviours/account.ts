import assert from 'node:assert/strict';
import { ENDPOINTS } from '../../../src/contract/generated/endpoints.ts';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus } from '../claims.ts';
import { creditsOf, modelsOf, read } from '../facts.ts';

const PROFILE = '/api/open/v1/profile';
const CAPABILITIES = 'GET /api/open/v3/speech/tts/capabilities';

/** Every endpoint but those that are public (docs/api/authentication.md). */
const KEYED = ENDPOINTS.flatMap((endpoint) =>
  'public' in endpoint ? [] : [`${endpoint.method} ${endpoint.path}`],
);

const BAD_KEYS: readonly (readonly [string, string | undefined])[] = [
  ['a missing key', undefined],
  ['a malformed one', 'Basic Zm9sZXk6Zm9sZXk='],
  ['one without a value', 'Bearer'],
  ['an unknown key', 'Bearer no-such-key'],
];

/** Keys, profile, capabilities and documents (docs/api/models.md, docs/api/account.md and docs/api/authentication.md). */
export const account: readonly Behaviour[] = [
  ...KEYED.map((on) => needsKey(on)),
  ...[CAPABILITIES, 'GET /api/open/v3/openapi.json'].map((on) => isPublic(on)),
  ...answerFields('Capabilities', async (service) => (await read(service, CAPABILITIES)).json()),
  ...answerFields('Model', async (service) => (await modelsOf(service))[0]),
  ...answerFields('Profile', async (service) => (await service.ask(`GET ${PROFILE}`)).json()),
  ...profile(),
];

function needsKey(on: string): Behaviour {
  const asked = on.replaceAll(/\{\w+\}/g, 'nothing');
  return {
    id: `auth.${asked.toLowerCase().replace(' /', '.').replaceAll('/', '-')}`,
    section: 'authentication',
    on,
    what: '401 for a missing, malformed or unknown key, and nothing is charged',
    covers: ['ERR_UNAUTHORIZED'],
    async check(service) {
      const before = await creditsOf(service);
      for (const [what, Authorization] of BAD_KEYS) {
        const options = {
          headers: { Authorization },
          ...(on.startsWith('POST') ? { body: {} } : {}),
        };
        const answer = await service.ask(asked, options);
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
    section: 'authentication',
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
      section: 'account',
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
      section: 'account',
      on,
      what: '`webhookUrl` is the address of a web server, without a password: 400 for anything else',
      covers: ['ProfileUpdate.webhookUrl', 'WEBHOOK_URL_MAX_CHARACTERS'],
      async check(service) {
        const long = `https://hooks.example/${'x'.repeat(2_048)}`;
        for (const webhookUrl of [
          'no address',
          ...(service.isOurs ? ['https://user:secret@hooks.example/'] : []),
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
      section: 'account',
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
