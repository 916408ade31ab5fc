import { formatRanges } from '../../contract/unspoken.ts';
import { HEADERS } from '../../contract/values.ts';
import { EMOTION_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { CachedSpeech, SpeechFormat, SpeechRequestV1 } from '../../contract/speech.ts';
import type { SpeechSurface, SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import type { OperationKey } from '../operations/operations.ts';
import { beginOperation, usedBefore, fingerprintOf } from '../operations/operations.ts';
import type { ChargedCall, Handler } from './call.ts';
import { priceHeaders, unspokenHeader } from './job-responses.ts';
import { requireSigned, storedAudioResponse } from './stored-audio.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { speakAligned } from '../speech/aligned-body.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { CachedRecord, CachedSpeechStore } from '../speech/cached-speech.ts';
import { speechMediaType } from '../speech/encode.ts';
import type { SpeechPlanOptions, SpeechParameters, SpeechPlan } from '../speech/plan-speech.ts';
import { planSpeech } from '../speech/plan-speech.ts';
import type { Speaking, SpokenStream } from '../speech/speak.ts';
import { speakStream, generate, requireSettled, speechOf } from '../speech/speak.ts';

/** Handles `POST /speech/tts` of v3 (docs/api/speech.md#v3). */
export const createSpeech: Handler<'createSpeech'> = (call, context) =>
  respondWithSpeech(call, context, { surface: 'v3', order: call.body });

/** Handles `POST /speech/tts` of v2 (docs/api/speech.md#v2). */
export const createSpeechV2: Handler<'createSpeechV2'> = (call, context) => {
  const { body } = call;
  const order = {
    ...speechParameters(body),
    modelId: body.modelId ?? historicalModel(body.engineModelId),
    emotion: body.emotion ?? historicalEmotion(body.minimaxEmotion),
  };
  const names = body.modelId === undefined ? { modelId: 'engineModelId' } : {};
  return respondWithSpeech(call, context, { surface: 'v2', order, names });
};

// Older clients send this field with any type.
function historicalModel(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

// Older clients send this field with any type.
function historicalEmotion(value: unknown): string | undefined {
  const emotion = historicalModel(value);
  return emotion !== undefined && emotion.length <= EMOTION_MAX_CHARACTERS ? emotion : undefined;
}

/** Handles `POST /speech/tts` of v1 (docs/api/speech.md#v1). */
export const createSpeechV1: Handler<'createSpeechV1'> = (call, context) => {
  const { body } = call;
  const format: SpeechFormat = body.format ?? 'mp3';
  const order = speechParameters(body);
  const names = body.voiceId === undefined ? { voiceId: 'reference_id' } : {};
  const isCached = body.cache === true ? true : undefined;
  const request: SurfaceRequest = { surface: 'v1', order, names, isCached };
  return isCached === true
    ? respondCached(call, context, { ...request, format })
    : respondWithSpeech(call, context, request);
};

/** Returns the fields of v3 speech requests in a v1 or v2 request body. @throws ServiceError 400 for a missing voice */
export function speechParameters(body: SpeechRequestV1) {
  const { text, modelId, format, language, emotion, instruction } = body;
  const { speed, volume, pitch, stability, similarity, textNormalization, filterEmoji } = body;
  const { pronunciations } = body;
  const numbers = { speed, volume, pitch, stability, similarity };
  const others = { language, emotion, instruction, textNormalization, filterEmoji, pronunciations };
  return { text, voiceId: voiceOf(body), modelId, format, ...numbers, ...others };
}

/**
 * Returns the voice id of a v1 request body, from `voiceId` or the older field `reference_id`.
 * @throws ServiceError 400 when both fields are missing
 */
export function voiceOf(body: {
  readonly voiceId?: string;
  readonly reference_id?: string;
}): string {
  const voice = body.voiceId ?? body.reference_id;
  if (voice !== undefined) return voice;
  throw invalidRequest([{ field: 'voiceId', message: 'voiceId is missing; it is required' }]);
}

function operationKey({ key }: ChargedCall, { isCached, order }: SurfaceRequest): OperationKey {
  return { ...key, fingerprint: fingerprintOf({ ...order, cache: isCached }) };
}

/** Handles `POST /speech/tts/aligned` of v3: streams audio and word times (docs/api/speech.md#aligned-stream). */
export const createAlignedSpeech: Handler<'createAlignedSpeech'> = async (call, context) => {
  const request = { surface: 'v3', isAligned: true, order: call.body } as const;
  const speaking = beginSpeech(call, context, request);
  const stream = await speakAligned(speaking);
  return chargedResponse(speaking.plan, stream, { type: EVENT_STREAM, listsIgnored: true });
};

/** A speech request, and the API whose rules apply to the request. */
export interface SurfaceRequest extends SpeechPlanOptions {
  readonly surface: SurfaceName;
  readonly order: SpeechParameters;
  /** True to store the audio and to respond with its URL. */
  readonly isCached?: boolean | undefined;
}

/** Responds with audio that is streamed while the engine is still speaking (docs/api/README.md). */
export async function respondWithSpeech(
  call: ChargedCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Promise<Response> {
  const speaking = beginSpeech(call, context, request);
  const { listsIgnored } = SPEECH_SURFACES[request.surface];
  const { plan } = speaking;
  const type = speechMediaType(plan.format);
  return chargedResponse(plan, await speakStream(speaking), { type, listsIgnored });
}

/**
 * Plans a speech request and reserves its charge. For a retry with the same idempotency key, throws a 409 error that
 * reports the state of the first request. This also holds if the voice or model was deleted in the meantime.
 * @throws ServiceError 400, 402, 404, 409, 429 or 503, before anything is charged
 */
export function beginSpeech(
  call: ChargedCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Speaking {
  const { account, requestId } = call;
  const { fields, modelHeader }: SpeechSurface = SPEECH_SURFACES[request.surface];
  const modelName = modelHeader === undefined ? {} : { modelId: modelHeader };
  const names = { ...fields, ...modelName, ...request.names };
  const key = operationKey(call, request);
  let plan: SpeechPlan;
  try {
    plan = planSpeech(request.order, context.catalogue.of(account), { ...request, names });
    context.speechQueue.requireCapacity(account);
  } catch (error) {
    const begun = context.operations.findBegun(key);
    throw begun === undefined ? error : usedBefore(begun);
  }
  const { charge } = plan;
  const operation = beginOperation(context.operations, { ...key, requestId, charge });
  return { context, account, plan, operation, signal: call.request.signal, requestId };
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/**
 * Returns a response with headers for the price and for the text that the voice leaves out. If `listsIgnored` is
 * true, another header lists the controls that the model or voice ignores.
 */
export function chargedResponse(
  { charge, ignored, unspoken }: SpeechPlan,
  { body, quotaRemaining }: SpokenStream,
  { type, listsIgnored }: { readonly type: string; readonly listsIgnored: boolean },
): Response {
  const price = priceHeaders({ quotaRemaining, creditsUsed: charge.credits });
  const headers = new Headers({ 'Content-Type': type, ...price, ...unspokenHeader(unspoken) });
  if (listsIgnored && ignored.length > 0) headers.set(HEADERS.ignoredParameters, ignored.join(','));
  return new Response(body, { headers });
}

// Responds with the URL of stored audio. Retries get the same URL while the audio is stored (docs/api/speech.md#v1 and
// docs/api/errors.md#idempotency).
async function respondCached(
  call: ChargedCall,
  context: ServiceContext,
  { format, ...request }: SurfaceRequest & { readonly format: SpeechFormat },
): Promise<Response> {
  const { cachedSpeech, links } = context;
  const begun = beginOrFind(call, context, request);
  const record =
    'operation' in begun ? await speakCached(begun, cachedSpeech, format) : begun.record;
  void cachedSpeech.sweep().catch(() => undefined);
  const { creditsUsed, expiresAt, id, quotaRemaining, unspoken } = record;
  const { expires, signature } = links.sign({ taskId: id, download: false }, expiresAt);
  const url = new URL(endpointPath('getCachedAudio', { audioId: id }), call.request.url);
  url.search = new URLSearchParams({ expires: String(expires), signature }).toString();
  const body: CachedSpeech = {
    audio_url: url.href,
    credits_used: creditsUsed,
    quota_remaining: quotaRemaining,
  };
  const headers = {
    ...priceHeaders({ quotaRemaining, creditsUsed }),
    ...(unspoken === '' ? {} : { [HEADERS.unspoken]: unspoken }),
  };
  return Response.json(body, { headers });
}

/** Handles the signed link `GET /api/open/tts/cached/{audioId}`: sends stored audio (embedded service only). */
export const getCachedAudio: Handler<'getCachedAudio'> = async (call, context) => {
  const { audioId } = call.parameters;
  requireSigned(call, context, { taskId: audioId, download: false });
  const found = await context.cachedSpeech.find(audioId);
  if (found === undefined) throw new ServiceError('ERR_AUDIO_NOT_FOUND', 'The audio has expired');
  const { format, unspoken } = found.record;
  const response = storedAudioResponse(call, found.audio, { format, name: audioId });
  if (unspoken !== '') response.headers.set(HEADERS.unspoken, unspoken);
  return response;
};

// Returns the stored audio if an identical request was billed earlier.
function beginOrFind(
  call: ChargedCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Speaking | { readonly record: CachedRecord } {
  try {
    return beginSpeech(call, context, request);
  } catch (error) {
    const isDone = error instanceof ServiceError && error.code === 'ERR_REQUEST_ALREADY_COMPLETED';
    if (!isDone) throw error;
    const record = context.cachedSpeech.findByKey(operationKey(call, request));
    if (record === undefined) throw error;
    return { record };
  }
}

// Charges when the file is complete (docs/api/speech.md#v1). If this throws, nothing is charged.
function speakCached(
  speaking: Speaking,
  cachedSpeech: CachedSpeechStore,
  format: SpeechFormat,
): Promise<CachedRecord> {
  const { context, operation, plan } = speaking;
  return generate(speaking, plan.textField, async (generation) => {
    const { id } = operation;
    const { signal } = generation;
    const creditsUsed = plan.charge.credits;
    const unspoken = formatRanges(plan.unspoken);
    const writing = await cachedSpeech.open({ id, format, creditsUsed, unspoken });
    const { output } = writing;
    try {
      const { encode } = context;
      const { gainDb } = plan;
      await writeSpeech({ output, encode, format, gainDb }, speechOf(speaking, signal));
      signal.throwIfAborted();
      const { quota } = requireSettled(operation.commit());
      let record: CachedRecord | undefined;
      operation.complete((db) => {
        record = writing.ready(db, quota);
      });
      const settled = requireSettled(record);
      generation.end();
      return settled;
    } catch (error) {
      await output.abandon();
      await writing.discard();
      throw error;
    }
  });
}
