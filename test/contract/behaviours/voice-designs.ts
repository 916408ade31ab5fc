import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimNames, claimRefused, claimStatus } from '../claims.ts';
import { creditsOf, freshKey, SPEECH, TEXT } from '../facts.ts';
import { NotApplicable } from '../service-under-test.ts';
import {
  DESIGN,
  design,
  DESIGNS,
  oneCandidate,
  oneDesign,
  remove,
  SAVE,
} from './voice-design-calls.ts';

const PREVIEW = 'GET /api/open/v1/voice-designs/{designId}/candidates/{candidateId}/audio';

/** Voices from words (docs/api/voice-design.md and docs/api/errors.md). */
export const voiceDesigns: readonly Behaviour[] = [...keys(), ...previews(), ...saving()];

function keys(): readonly Behaviour[] {
  return [
    {
      id: 'voice-designs.key.required',
      section: 'voice-design',
      on: `${DESIGNS}, ${SAVE}`,
      what: '`Idempotency-Key` is required: 400 without',
      covers: ['Idempotency-Key'],
      async check(service) {
        const saved = { candidateId: 'nothing', name: 'Ada' };
        for (const [on, body] of [
          [DESIGNS, DESIGN],
          [SAVE.replace('{designId}', 'nothing'), saved],
        ] as const) {
          const answer = await service.ask(on, { body });
          claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
          claimNames(answer, 'Idempotency-Key', service);
        }
      },
    },
    {
      id: 'voice-designs.key.same',
      section: 'errors#idempotency',
      on: DESIGNS,
      what: 'The same request again under its key is the same design, and is not charged again; another one is a conflict',
      covers: ['ERR_REQUEST_ID_CONFLICT'],
      spends: true,
      async check(service) {
        const key = freshKey();
        const first = await design(service, key);
        claimStatus(first, 200);
        const credits = await creditsOf(service);
        const again = await design(service, key);
        claimStatus(again, 200);
        assert.equal(at(again.json(), 'designId'), at(first.json(), 'designId'));
        assert.equal(await creditsOf(service), credits);
        const other = await design(service, key, { ...DESIGN, prompt: 'A young man' });
        claimRefused(other, 409, 'ERR_REQUEST_ID_CONFLICT', service);
      },
    },
    {
      id: 'voice-designs.price',
      section: 'voice-design',
      on: DESIGNS,
      what: 'A credit for each character of each of the three previews (ours)',
      covers: ['VoiceDesign.billing.creditsUsed', 'X-OpenAPI-Credits-Used'],
      spends: true,
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('the spec leaves it open');
        const before = await creditsOf(service);
        const made = await design(service, freshKey());
        assert.equal(at(made.json(), 'billing.creditsUsed'), 9);
        assert.equal(made.header('X-OpenAPI-Credits-Used'), '9');
        assert.equal(await creditsOf(service), before - 9);
      },
    },
  ];
}

function previews(): readonly Behaviour[] {
  const path = (designId: string, candidateId: string): string =>
    PREVIEW.replace('{designId}', designId).replace('{candidateId}', candidateId);
  return [
    {
      id: 'voice-designs.preview',
      section: 'voice-design',
      on: PREVIEW,
      what: 'Each candidate has a preview, `audio/wav` or `audio/mpeg`; no two are the same',
      spends: true,
      async check(service) {
        const { designId, candidates } = Object(await oneDesign(service));
        const heard = new Set<string>();
        for (const { candidateId } of candidates) {
          const answer = await service.ask(path(designId, candidateId));
          claimAudio(answer, /^audio\/(wav|mpeg)$/);
          assert.ok((await service.listen(answer.bytes)) > 100);
          heard.add(answer.bytes.toString('base64'));
        }
        assert.equal(heard.size, candidates.length);
      },
    },
    {
      id: 'voice-designs.preview.protected',
      section: 'authentication',
      on: PREVIEW,
      what: 'Previews need the key of the account: 401 without, 404 with that of another',
      covers: ['ERR_DESIGN_NOT_FOUND'],
      spends: true,
      async check(service) {
        const { designId, candidateId } = await oneCandidate(service);
        const on = path(designId, candidateId);
        const none = await service.ask(on, { headers: { Authorization: undefined } });
        claimRefused(none, 401, 'ERR_UNAUTHORIZED', service);
        if (service.otherKey === undefined) return;
        const headers = { Authorization: `Bearer ${service.otherKey}` };
        claimRefused(await service.ask(on, { headers }), 404, 'ERR_DESIGN_NOT_FOUND', service);
      },
    },
    {
      id: 'voice-designs.preview.unknown',
      section: 'errors',
      on: PREVIEW,
      what: '404 for a design or a candidate that there is not',
      covers: ['ERR_DESIGN_NOT_FOUND', 'ERR_CANDIDATE_NOT_FOUND'],
      spends: true,
      async check(service) {
        const { designId } = await oneCandidate(service);
        const none = await service.ask(path('nothing', 'nothing'));
        claimRefused(none, 404, 'ERR_DESIGN_NOT_FOUND', service);
        const other = await service.ask(path(designId, 'nothing'));
        claimRefused(other, 404, 'ERR_CANDIDATE_NOT_FOUND', service);
      },
    },
  ];
}

function saving(): readonly Behaviour[] {
  return [
    {
      id: 'voice-designs.save.speaks',
      section: 'voice-design',
      on: SAVE,
      what: 'Saving gives a permanent voice; the same key the same one; `designId` and `candidateId` are no voice ids',
      spends: true,
      async check(service) {
        const { designId, candidateId } = await oneCandidate(service);
        const on = SAVE.replace('{designId}', designId);
        const headers = { 'Idempotency-Key': freshKey() };
        const body = { candidateId, name: 'Conformance' };
        const first = await service.ask(on, { body, headers });
        claimStatus(first, 200);
        const again = await service.ask(on, { body, headers });
        const voiceId = at(first.json(), 'voiceId');
        assert.equal(at(again.json(), 'voiceId'), voiceId);
        claimAudio(await service.ask(SPEECH, { body: { text: TEXT, voiceId } }));
        for (const id of [designId, candidateId]) {
          const refused = await service.ask(SPEECH, { body: { text: TEXT, voiceId: id } });
          claimRefused(refused, 404, 'ERR_VOICE_NOT_FOUND', service);
        }
        await remove(service, first);
      },
    },
    {
      id: 'voice-designs.save.unknown',
      section: 'errors',
      on: SAVE,
      what: '404 for a design or a candidate that there is not, which uses no key up',
      covers: ['ERR_DESIGN_NOT_FOUND', 'ERR_CANDIDATE_NOT_FOUND'],
      spends: true,
      async check(service) {
        const { designId } = await oneCandidate(service);
        const headers = { 'Idempotency-Key': freshKey() };
        const body = { candidateId: 'nothing', name: 'Conformance' };
        const none = await service.ask(SAVE.replace('{designId}', 'nothing'), { body, headers });
        claimRefused(none, 404, 'ERR_DESIGN_NOT_FOUND', service);
        const other = await service.ask(SAVE.replace('{designId}', designId), { body, headers });
        claimRefused(other, 404, 'ERR_CANDIDATE_NOT_FOUND', service);
      },
    },
  ];
}
