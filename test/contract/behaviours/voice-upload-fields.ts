import assert from 'node:assert/strict';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { claimNames, claimRefused } from '../claims.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';
import { CREATE, CREATE_V3, formWith, GOOD, send, withVoice } from './voice-upload.ts';

/** Every field of the form and of the answers of voices that are made (docs/api/voices.md and docs/api/versions.md). */
export const voiceUploadFields: readonly Behaviour[] = [
  ...answerFields('VoiceCreated', made(CREATE)),
  ...answerFields('VoiceCreated (ours)', made(CREATE)),
  ...answerFields('VoiceCreatedV3 (ours)', made(CREATE_V3)),
  {
    id: 'voices.create.fields',
    section: 'voices',
    on: CREATE,
    what: 'Every field of the form together; provider overrides are ignored',
    covers: ['description', 'referenceText', 'visibility', 'languages'].map(
      (name) => `VoiceUpload.${name}`,
    ),
    spends: true,
    check: (service) => withVoice(service, formWith(ALL), (voice) => claimFollowed(service, voice)),
  },
  refused('name', '`name` is required', [undefined, '', '  ']),
  refused('visibility', '`visibility` is private or public', ['secret', '']),
  refused('languages', '`languages` is a JSON array of language codes', [
    'en',
    '"en"',
    '[1]',
    '{}',
    '["not a code"]',
  ]),
  ...[
    refused(
      'languages',
      'A language that no voice here speaks is 400 (ours)',
      ['["xx"]'],
      'spoken',
    ),
    limited('languages', 'VOICE_LANGUAGES_MAX', JSON.stringify(Array(21).fill('en'))),
    limited('name', 'VOICE_NAME_MAX_CHARACTERS', 'a'.repeat(101)),
    limited('description', 'VOICE_DESCRIPTION_MAX_CHARACTERS', 'a'.repeat(1_001)),
    limited('referenceText', 'REFERENCE_TEXT_MAX_CHARACTERS', 'a'.repeat(10_001)),
  ].map((row) => oursOnly(row)),
];

const ALL = {
  name: 'é'.repeat(100),
  description: 'From a tape',
  referenceText: 'What is said.',
  visibility: 'public',
  languages: '["en-US"]',
  provider: 'altF',
  modelId: 'altF-flash-v2.5',
};

function claimFollowed(
  { isOurs }: ServiceUnderTest,
  voice: Readonly<Record<string, unknown>>,
): void {
  assert.equal(voice['title'], ALL.name);
  assert.equal(voice['description'], ALL.description);
  if (!isOurs) return;
  assert.match(String(voice['notices']), /^Simulated, not a clone/);
  const { visibility, languages, provider } = voice;
  assert.deepEqual([visibility, languages, provider], ['public', ['en-US'], 'vendor']);
}

/** A voice as it is answered, made once. */
function made(on: string): (service: ServiceUnderTest) => Promise<unknown> {
  return (service) =>
    service.once(`a voice of ${on}`, async () => {
      let voice: unknown;
      await withVoice(
        service,
        GOOD,
        (one) => {
          voice = one;
        },
        on,
      );
      return voice;
    });
}

function refused(
  name: string,
  what: string,
  values: readonly (string | undefined)[],
  id = 'refuses',
): Behaviour {
  return {
    id: `voices.create.${name}.${id}`,
    section: 'voices',
    on: CREATE,
    what,
    covers: [`VoiceUpload.${name}`],
    async check(service) {
      for (const value of values) {
        const answer = await send(service, formWith({ [name]: value }));
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        claimNames(answer, name, service);
      }
    },
  };
}

function limited(name: string, limit: string, tooMuch: string): Behaviour {
  const row = refused(name, `\`${name}\` has a limit (ours): 400 above it`, [tooMuch], 'limit');
  return { ...row, covers: [`VoiceUpload.${name}`, limit] };
}

function oursOnly(row: Behaviour): Behaviour {
  return {
    ...row,
    async check(service) {
      if (!service.isOurs) throw new NotApplicable('the spec leaves it open');
      await row.check(service);
    },
  };
}
