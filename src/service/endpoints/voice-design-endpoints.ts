import { PREVIEW_FORMAT } from '../../contract/values.ts';
import { FAMILIES } from '../../contract/families.ts';
import type {
  VoiceDesign,
  VoiceDesignRequest,
  VoiceDesignSaved,
} from '../../contract/voice-design.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import { showText, anyOf } from '../http/validation.ts';
import { beginOperation, fingerprintOf } from '../operations/operations.ts';
import type { CallTo, Handler } from './call.ts';
import { priceHeaders } from './job-responses.ts';
import { storedAudioResponse } from './stored-audio.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError, invalidRequest } from '../service-error.ts';
import type { FieldProblem } from '../service-error.ts';
import { surrogateProblem } from '../speech/plan-speech.ts';
import { requireSettled } from '../speech/speak.ts';
import { CUSTOM_VOICE_FAMILY, isSameLanguage } from '../voices/voice-maker.ts';
import type { CandidateRecord, DesignRecord, ValidatedDesign } from '../voices/designs.ts';
import { findDesign } from '../voices/designs.ts';
import { CANDIDATES, wantedVoice } from '../voices/prompt-words.ts';
import { BUILT_IN_LANGUAGE } from '../voices/catalogue-voice.ts';
import { storeVoice, findVoice } from '../voices/personal-voices.ts';
import type { PersonalVoice } from '../voices/personal-voices.ts';
import { voiceCreated } from './voice-endpoints.ts';

/** Handles `POST /voice-designs` (docs/api/voice-design.md). */
export const createVoiceDesign: Handler<'createVoiceDesign'> = async (call, context) => {
  const { account: accountId, body, request, requestId } = call;
  const { prompt, previewText, providers, language } = body;
  const fingerprint = fingerprintOf({ prompt, previewText, providers, language });
  const key = { ...call.key, fingerprint };
  void context.designs.sweep().catch(() => undefined);
  const design = await context.creates.once({
    key,
    signal: request.signal,
    find: (db, id) => findDesign(db, { id, accountId, now: context.clock.now() }),
    make(signal) {
      const order = planDesign(body, accountId);
      const charge = { credits: order.credits, quota: order.characters };
      const operation = beginOperation(context.operations, { ...key, requestId, charge });
      return context.designs.make({ context, operation, signal }, order);
    },
  });
  return designAnswer(design, prompt, requestId);
};

/** Handles `GET /voice-designs/{designId}/candidates/{candidateId}/audio` (docs/api/voice-design.md). */
export const getCandidateAudio: Handler<'getCandidateAudio'> = async (call, context) => {
  const { account, parameters } = call;
  const { design, candidate } = requireCandidate(context, account, parameters);
  const audio = await context.designs.preview(design, candidate);
  if (audio === undefined) throw noCandidate(candidate.id);
  return storedAudioResponse(call, audio, { format: PREVIEW_FORMAT, name: candidate.id });
};

function requireCandidate(
  { designs }: ServiceContext,
  accountId: string,
  { designId, candidateId }: { readonly designId: string; readonly candidateId: string },
): { readonly design: DesignRecord; readonly candidate: CandidateRecord } {
  const design = designs.find(accountId, designId);
  if (design === undefined) {
    const message = `No such voice design, or it has expired: ${showText(designId)}`;
    throw new ServiceError('ERR_DESIGN_NOT_FOUND', message);
  }
  const candidate = design.candidates.find(({ id }) => id === candidateId);
  if (candidate === undefined) throw noCandidate(candidateId);
  return { design, candidate };
}

function noCandidate(candidateId: string): ServiceError {
  const message = `The voice design has no candidate ${showText(candidateId)}`;
  return new ServiceError('ERR_CANDIDATE_NOT_FOUND', message);
}

function designAnswer(design: DesignRecord, prompt: string, requestId: string): Response {
  const { beyond } = wantedVoice(prompt);
  const { id: designId, candidates, characters, credits, quotaRemaining } = design;
  const body: VoiceDesign = {
    designId,
    candidates: candidates.map(({ id: candidateId, family, language, description }) => ({
      candidateId,
      previewAudioUrl: endpointPath('getCandidateAudio', { designId, candidateId }),
      provider: family,
      language,
      description,
    })),
    createdAt: new Date(design.createdAt).toISOString(),
    expiresAt: new Date(design.expiresAt).toISOString(),
    billing: { characters, creditsUsed: credits, quotaRemaining },
    notices: [
      'Simulated: variations of the built-in voice in pitch, timbre, pace and brightness',
      ...(beyond.length === 0 ? [] : [`The built-in voice cannot do: ${beyond.join(', ')}`]),
    ],
    requestId,
  };
  return Response.json(body, { headers: priceHeaders({ quotaRemaining, creditsUsed: credits }) });
}

/** Handles `POST /voice-designs/{designId}/voices`: saves a candidate as a voice (docs/api/voice-design.md). */
export const saveVoiceDesign: Handler<'saveVoiceDesign'> = async (call, context) => {
  const { account: accountId, body, parameters, request, requestId } = call;
  const { designId } = parameters;
  const { candidateId, name, visibility, language } = body;
  const fingerprint = fingerprintOf({ designId, candidateId, name, visibility, language });
  const key = { ...call.key, fingerprint };
  const voice = await context.creates.once({
    key,
    signal: request.signal,
    find: (db, id) => findVoice(db, accountId, id),
    make() {
      const charge = { credits: 0, quota: 0 };
      const operation = beginOperation(context.operations, { ...key, requestId, charge });
      try {
        const { candidate } = requireCandidate(context, accountId, { designId, candidateId });
        // A retry finds the voice by the id of the operation.
        const saved = voiceFrom(operation.id, candidate, call, context.clock.now());
        context.personalVoices.requireCapacity(accountId);
        requireSettled(operation.commit());
        operation.complete((db) => storeVoice(db, saved));
        return saved;
      } catch (error) {
        operation.release();
        throw error;
      }
    },
  });
  const answer: VoiceDesignSaved = {
    ...voiceCreated(voice),
    notices: [voice.made.description],
    designId,
    candidateId,
  };
  return Response.json(answer);
};

function voiceFrom(
  id: string,
  candidate: CandidateRecord,
  { account: accountId, body }: CallTo<'saveVoiceDesign'>,
  createdAt: number,
): PersonalVoice {
  const { name, visibility = 'private', language = candidate.language } = body;
  if (name.trim() === '') {
    throw invalidRequest([{ field: 'name', message: 'name has no visible character' }]);
  }
  if (!isSameLanguage(language, candidate.language)) {
    const message = `language is ${showText(language)}; the candidate speaks ${candidate.language}`;
    throw invalidRequest([{ field: 'language', message }]);
  }
  return {
    id,
    name,
    family: candidate.family,
    primaryLanguage: language,
    languages: [language],
    engine: candidate.engine,
    made: { accountId, createdAt, description: candidate.description, visibility },
  };
}

const CREDITS_PER_CHARACTER = 1;

// Costs one credit and one unit of quota for each character of each preview.
function planDesign(
  { prompt, previewText, providers = [], language }: VoiceDesignRequest,
  accountId: string,
): ValidatedDesign {
  const families = FAMILIES.map(({ id }) => id).filter((id) => providers.includes(id));
  const [first, ...others] = [
    ...textProblems('prompt', prompt),
    ...textProblems('previewText', previewText),
    ...unknownFamilies(providers),
    ...languageProblems(language),
  ];
  if (first !== undefined) throw invalidRequest([first, ...others]);
  const characters = CANDIDATES * countCodePoints(previewText);
  return {
    accountId,
    wanted: wantedVoice(prompt),
    language: language ?? BUILT_IN_LANGUAGE,
    families: families.length === 0 ? [CUSTOM_VOICE_FAMILY] : families,
    previewText,
    characters,
    credits: characters * CREDITS_PER_CHARACTER,
  };
}

function textProblems(field: string, text: string): readonly FieldProblem[] {
  if (text.trim() === '') return [{ field, message: `${field} has only white space` }];
  const surrogate = surrogateProblem(field, text);
  return surrogate === undefined ? [] : [surrogate];
}

function unknownFamilies(providers: readonly string[]): readonly FieldProblem[] {
  const families: readonly string[] = FAMILIES.map(({ id }) => id);
  const unknown = providers.find((one) => !families.includes(one));
  if (unknown === undefined) return [];
  const message = `providers has ${showText(unknown)}; allowed: ${anyOf(families)}`;
  return [{ field: 'providers', message }];
}

function languageProblems(language: string | undefined): readonly FieldProblem[] {
  if (language === undefined || isSameLanguage(language, BUILT_IN_LANGUAGE)) return [];
  const message = `language is ${showText(language)}; allowed: ${BUILT_IN_LANGUAGE}`;
  return [{ field: 'language', message }];
}
