import type { VoiceDesignSaved } from '../../contract/schemas/voice-design.ts';
import { VoiceDesignSave } from '../../contract/schemas/voice-design.ts';
import { requireIdempotencyKey } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { beginOperation } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { Operation } from '../operations/operation.ts';
import { isSameLanguage } from '../personal-voices/natural-voices.ts';
import { keepVoice } from '../personal-voices/personal-voices.ts';
import type { PersonalVoice } from '../personal-voices/voice-records.ts';
import { findVoice } from '../personal-voices/voice-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest } from '../service-error.ts';
import { requireSettled } from '../synthesis/speak.ts';
import type { CandidateRecord } from '../voice-designs/design-records.ts';
import { showText } from '../wording/show-value.ts';
import type { AccountCall, Handler } from './call.ts';
import { voiceCreated } from './voice-answers.ts';
import { requireCandidate } from './voice-designs.ts';

/** `POST /voice-designs/{designId}/voices` (spec section 4.6): costs nothing but a place for a voice. */
export const saveVoiceDesign: Handler<AccountCall> = async (call, context) => {
  const { account: accountId, parameters, request, requestId } = call;
  const { designId = '' } = parameters;
  const idempotencyKey = requireIdempotencyKey(request.headers);
  const body = requireValid(VoiceDesignSave, await readJsonBody(request), 'The body');
  const { candidateId, name, visibility, language } = body;
  const key = {
    accountId,
    endpoint: 'saveVoiceDesign',
    idempotencyKey,
    fingerprint: fingerprintOf({ designId, candidateId, name, visibility, language }),
  };
  const voice = await context.creates.once({
    key,
    signal: request.signal,
    find: (db, id) => findVoice(db, accountId, id),
    make: () =>
      keep(context, { ...key, requestId, charge: { credits: 0, quota: 0 } }, { ...body, designId }),
  });
  const answer: VoiceDesignSaved = { ...voiceCreated(voice), designId, candidateId };
  return Response.json(answer);
};

type Saving = VoiceDesignSave & { readonly designId: string };

function keep(
  context: ServiceContext,
  request: Parameters<typeof beginOperation>[1],
  saving: Saving,
): PersonalVoice {
  const { accountId } = request;
  const operation = beginOperation(context.operations, request);
  try {
    const { candidate } = requireCandidate(context, accountId, saving);
    const voice = voiceFrom(candidate, saving, { context, operation, accountId });
    context.personalVoices.requireRoom(accountId);
    requireSettled(operation.commit());
    operation.complete((db) => keepVoice(db, voice));
    return voice;
  } catch (error) {
    operation.release();
    throw error;
  }
}

interface Keeping {
  readonly context: ServiceContext;
  readonly operation: Operation;
  readonly accountId: string;
}

/** The voice gets the id of the operation, by which a repetition finds it. */
function voiceFrom(
  candidate: CandidateRecord,
  { name, visibility = 'private', language = candidate.language }: Saving,
  { context, operation, accountId }: Keeping,
): PersonalVoice {
  if (name.trim() === '') {
    throw invalidRequest([{ field: 'name', message: 'name has no character that can be seen' }]);
  }
  if (!isSameLanguage(language, candidate.language)) {
    const message = `language is ${showText(language)}; the candidate speaks ${candidate.language}`;
    throw invalidRequest([{ field: 'language', message }]);
  }
  return {
    id: operation.id,
    name,
    family: candidate.family,
    primaryLanguage: language,
    languages: [language],
    engine: candidate.engine,
    made: {
      accountId,
      description: candidate.description,
      visibility,
      createdAt: context.clock.now(),
    },
  };
}
