import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimStatus } from '../claims.ts';
import { read, voicesOf } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

const V3 = 'GET /api/open/v3/voices';
const V1 = 'GET /api/open/v1/voices';
const COMPAT = 'GET /v1/audio/voices';

/** Every field of every list of voices (docs/api/voices.md and docs/api/other-clients.md). */
export const voiceFields: readonly Behaviour[] = [
  ...answerFields('VoiceList', async (service) => (await read(service, V3)).json()),
  ...answerFields('Voice', async (service) => at((await read(service, V3)).json(), 'items.0')),
  ...answerFields('VoiceAnswer', oneVoice),
  ...answerFields('Voice (ours)', async (service) =>
    at((await read(service, V3)).json(), 'items.0'),
  ),
  ...answerFields('VoiceAnswer (ours)', oneVoice),
  ...answerFields('VoiceListV1', async (service) => (await read(service, V1)).json()),
  ...answerFields('VoiceV1', (service) => itemWith(service, 'title')),
  ...answerFields('VoiceV1 (form B)', (service) => itemWith(service, 'provider')),
  ...answerFields('CompatVoices', async (service) => (await read(service, COMPAT)).json()),
  ...answerFields('CompatVoices (ours)', async (service) => (await read(service, COMPAT)).json()),
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
