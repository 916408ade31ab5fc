import { PREVIEW_FORMAT } from '../../contract/audio-formats.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { VoiceDesign } from '../../contract/schemas/voice-design.ts';
import { VoiceDesignRequest } from '../../contract/schemas/voice-design.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { requireIdempotencyKey } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { beginOperation } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import { showText } from '../wording/show-value.ts';
import type { CandidateRecord, DesignRecord } from '../voice-designs/design-records.ts';
import { findDesign } from '../voice-designs/design-records.ts';
import { makeDesign } from '../voice-designs/make-design.ts';
import type { AccountCall, Handler } from './call.ts';
import { planDesign } from './plan-design.ts';
import { storedAudioAnswer } from './stored-audio.ts';

/** `POST /voice-designs` (spec section 4.6). */
export const createVoiceDesign: Handler<AccountCall> = async (call, context) => {
  const { account: accountId, request, requestId } = call;
  const idempotencyKey = requireIdempotencyKey(request.headers);
  const body = requireValid(VoiceDesignRequest, await readJsonBody(request), 'The body');
  const { prompt, previewText, providers, language } = body;
  const key = {
    accountId,
    endpoint: 'createVoiceDesign',
    idempotencyKey,
    fingerprint: fingerprintOf({ prompt, previewText, providers, language }),
  };
  // What has expired is not worth waiting for.
  void context.designs.sweep().catch(() => undefined);
  const design = await context.creates.once({
    key,
    signal: request.signal,
    find: (db, id) => findDesign(db, { id, accountId, now: context.clock.now() }),
    make(signal) {
      const order = planDesign(body, accountId, context.voiceMaker.voices);
      const charge = { credits: order.credits, quota: order.characters };
      const operation = beginOperation(context.operations, { ...key, requestId, charge });
      const generating = { context, operation, plan: { textField: 'previewText' }, signal };
      return makeDesign(context.designing, generating, order);
    },
  });
  return designAnswer(design, requestId);
};

/** `GET …/candidates/{candidateId}/audio` (spec section 4.6). */
export const getCandidateAudio: Handler<AccountCall> = async (call, context) => {
  const { account, parameters, request } = call;
  const { designId = '', candidateId = '' } = parameters;
  const { design, candidate } = requireCandidate(context, account, { designId, candidateId });
  const audio = await context.designs.preview(design, candidate);
  if (audio === undefined) throw noCandidate(candidateId);
  return storedAudioAnswer(audio, {
    request,
    format: PREVIEW_FORMAT,
    name: candidate.id,
    isAttachment: false,
  });
};

/**
 * A candidate of a design of the account, while it is there.
 * @throws ServiceError 404 for either
 */
export function requireCandidate(
  { designs }: Pick<ServiceContext, 'designs'>,
  accountId: string,
  { designId, candidateId }: { readonly designId: string; readonly candidateId: string },
): { readonly design: DesignRecord; readonly candidate: CandidateRecord } {
  const design = designs.find(accountId, designId);
  if (design === undefined) {
    const message = `There is no voice design ${showText(designId)}, or it has expired`;
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

function designAnswer(design: DesignRecord, requestId: string): Response {
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
    requestId,
  };
  const headers = {
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(credits),
  };
  return Response.json(body, { headers });
}
