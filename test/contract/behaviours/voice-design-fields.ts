import assert from 'node:assert/strict';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at } from '../claims.ts';
import { freshKey } from '../facts.ts';
import type { RequestBody } from '../request-fields.ts';
import { requestFields } from '../request-fields.ts';
import { DESIGN, DESIGNS, oneCandidate, oneDesign, SAVE, saved } from './voice-design-calls.ts';

/** Every field of voice designs (docs/api/voice-design.md). */
export const voiceDesignFields: readonly Behaviour[] = [
  ...designFields(),
  ...requestFields(designBody(), [
    {
      name: 'prompt',
      what: 'a string, at most 1,000 characters here',
      isRequired: true,
      limits: ['DESIGN_PROMPT_MAX_CHARACTERS'],
      takes: ['a', 'é'.repeat(1_000)],
      refuses: ['', ' ', 7, 'a'.repeat(1_001)],
    },
    {
      name: 'previewText',
      what: 'a string, at most 500 characters here',
      isRequired: true,
      limits: ['PREVIEW_TEXT_MAX_CHARACTERS'],
      takes: ['a'],
      refuses: ['', ' ', 7, 'a'.repeat(501)],
    },
    {
      name: 'providers',
      what: 'a list of engine families',
      takes: [[], ['altA', 'altF']],
      refuses: ['altA', ['nobody']],
    },
    { name: 'language', what: 'a language code (ours)', takes: ['en'], refuses: ['', 7, 'xx'] },
  ]),
  ...requestFields(saveBody(), [
    { name: 'candidateId', what: 'one of the design', isRequired: true, refuses: ['', 7] },
    { name: 'name', what: 'the display name', isRequired: true, takes: ['Ada'], refuses: ['', 7] },
    { name: 'visibility', what: 'private or public', takes: ['private'], refuses: ['secret', 7] },
    { name: 'language', what: 'a language code', takes: ['en'], refuses: ['', 7, 'xx'] },
  ]),
];

function designFields(): readonly Behaviour[] {
  return [
    ...answerFields('VoiceDesign', oneDesign),
    ...answerFields('VoiceDesign (ours)', oneDesign),
    ...answerFields('VoiceCandidate', async (service) =>
      at(await oneDesign(service), 'candidates.0'),
    ),
    ...answerFields('VoiceCandidate (ours)', async (service) =>
      at(await oneDesign(service), 'candidates.1'),
    ),
    ...answerFields('VoiceDesignSaved', saved),
    ...answerFields('VoiceDesignSaved (ours)', saved),
  ];
}

function designBody(): RequestBody {
  return {
    id: 'voice-designs.create',
    of: 'VoiceDesignRequest',
    section: 'voice-design',
    on: DESIGNS,
    headers: () => ({ 'Idempotency-Key': freshKey() }),
    plain: async () => DESIGN,
    claimTaken: (answer) => assert.equal(Object(at(answer.json(), 'candidates')).length, 3),
  };
}

function saveBody(): RequestBody {
  return {
    id: 'voice-designs.save',
    of: 'VoiceDesignSave',
    section: 'voice-design',
    on: SAVE,
    path: async (service) => SAVE.replace('{designId}', (await oneCandidate(service)).designId),
    headers: () => ({ 'Idempotency-Key': freshKey() }),
    plain: async (service) => {
      const { candidateId } = await oneCandidate(service);
      return { candidateId, name: 'Conformance' };
    },
    claimTaken: (answer) => assert.ok(at(answer.json(), 'voiceId')),
  };
}
