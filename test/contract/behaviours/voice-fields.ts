import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimStatus } from '../claims.ts';
import { read, voicesOf } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

const V3 = 'GET /api/open/v3/voices';
const V1 = 'GET /api/open/v1/voices';
const COMPAT = 'GET /v1/audio/voices';

const ENVELOPE = [
  ['total', 'integer', 'how many fit'],
  ['page', 'integer', 'from 1'],
  ['pageSize', 'integer', 'voices a page'],
  ['totalPages', 'integer', 'how many pages there are'],
  ['items', 'list', 'the voices'],
] as const;

const ITEM = [
  ['voiceId', 'id', 'voice id'],
  ['name', 'string', 'display name'],
  ['isPersonal', 'boolean', 'personal, or a public system voice'],
  ['primaryLanguage', 'string', 'language code'],
  ['languages', 'string[]', 'supported language codes'],
  ['modelIds', 'string[]', 'public models that the voice supports'],
] as const;

const OURS = [
  ['description', 'string', 'who speaks, and how'],
  ['phonemes', 'string', 'the signs of IPA that it speaks'],
] as const;

/** Every field of every list of voices (docs/api/voices.md and docs/api/other-clients.md). */
export const voiceFields: readonly Behaviour[] = [
  ...answerFields(
    {
      of: 'VoiceList',
      section: 'voices',
      on: V3,
      sample: async (service) => (await read(service, V3)).json(),
    },
    [...ENVELOPE, ['requestId', 'id', 'trace id']],
  ),
  ...answerFields(
    {
      of: 'Voice',
      section: 'voices',
      on: V3,
      sample: async (service) => at((await read(service, V3)).json(), 'items.0'),
    },
    ITEM,
  ),
  ...answerFields(
    { of: 'VoiceAnswer', section: 'voices', on: `${V3}/{voiceId}`, sample: oneVoice },
    [...ITEM, ['requestId', 'id', 'trace id']],
  ),
  ...answerFields(
    {
      of: 'Voice',
      section: 'voices',
      on: V3,
      isOurChoice: true,
      sample: async (service) => at((await read(service, V3)).json(), 'items.0'),
    },
    OURS,
  ),
  ...answerFields(
    {
      of: 'VoiceAnswer',
      section: 'voices',
      on: `${V3}/{voiceId}`,
      isOurChoice: true,
      sample: oneVoice,
    },
    OURS,
  ),
  ...answerFields(
    {
      of: 'VoiceListV1',
      section: 'voices',
      on: V1,
      sample: async (service) => (await read(service, V1)).json(),
    },
    ENVELOPE,
  ),
  ...answerFields(
    { of: 'VoiceV1', section: 'voices', on: V1, sample: (service) => itemWith(service, 'title') },
    [
      ['voiceId', 'id', 'voice id (form A)'],
      ['title', 'string', 'display name'],
      ['description', 'string', 'what it sounds like'],
      ['created_at', 'instant', 'when it was made'],
      ['updated_at', 'instant', 'when it was changed'],
      ['isPersonal', 'boolean', 'personal or public'],
    ],
  ),
  ...answerFields(
    {
      of: 'VoiceV1',
      section: 'voices',
      on: V1,
      sample: (service) => itemWith(service, 'provider'),
    },
    [
      ['id', 'id', 'voice id (form B)'],
      ['name', 'string', 'display name'],
      ['provider', 'string', 'engine family'],
    ],
  ),
  ...answerFields(
    {
      of: 'CompatVoices',
      section: 'other-clients',
      on: COMPAT,
      sample: async (service) => (await read(service, COMPAT)).json(),
    },
    [
      ['voices', 'list', 'every voice'],
      ['voices.0.id', 'id', 'voice id'],
    ],
  ),
  ...answerFields(
    {
      of: 'CompatVoices',
      section: 'other-clients',
      on: COMPAT,
      isOurChoice: true,
      sample: async (service) => (await read(service, COMPAT)).json(),
    },
    [['voices.0.name', 'string', 'display name']],
  ),
];

/** The first item, in the one of its two forms that has this field; ours are both at once. */
async function itemWith(service: ServiceUnderTest, field: string): Promise<unknown> {
  const item = at((await read(service, V1)).json(), 'items.0');
  if (service.isOurs || at(item, field) !== undefined) return item;
  throw new NotApplicable('items have the other form');
}

export async function oneVoice(service: ServiceUnderTest): Promise<unknown> {
  const [voice] = await voicesOf(service);
  const answer = await service.ask(`${V3}/${voice?.voiceId}`);
  claimStatus(answer, 200);
  return answer.json();
}
