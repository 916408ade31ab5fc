import { HEADERS } from '../../contract/values.ts';
import { EMOTION_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { CachedSpeech, SpeechFormat, SpeechRequest } from '../../contract/speech.ts';
import type { SpeechSurface, SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import type { OperationKey } from '../operations/operations.ts';
import { beginOperation, usedBefore, fingerprintOf } from '../operations/operations.ts';
import type { Call, ChargedCall, Handler } from './call.ts';
import { priceHeaders } from './job-responses.ts';
import { requireSigned, storedAudioAnswer } from './stored-audio.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { speakAligned } from '../speech/aligned-body.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type {
  CachedRecord,
  CachedSpeech as CachedSpeechStore,
  CachedWriting,
} from '../speech/cached-speech.ts';
import { speechMediaType } from '../speech/encode.ts';
import type { PlanOptions, SpeechOrder, SpeechPlan } from '../speech/plan.ts';
import { planSpeech } from '../speech/plan.ts';
import type { Speaking, SpokenStream } from '../speech/speak.ts';
import { speakStream, generate, requireSettled, speechOf } from '../speech/speak.ts';

/** `POST /speech/tts` of v3 (docs/api/speech.md#v3). */
export const createSpeech: Handler<'createSpeech'> = (call, context) =>
  answerSpeech(call, context, { surface: 'v3', order: call.body });

/** `POST /speech/tts` of v2 (docs/api/speech.md#v2). */
export const createSpeechV2: Handler<'createSpeechV2'> = (call, context) => {
  const { body } = call;
  const order = {
    ...knownFields(body),
    voiceId: body.voiceId,
    modelId: body.modelId ?? historicalModel(body.engineModelId),
    emotion: body.emotion ?? historicalEmotion(body.minimaxEmotion),
  };
  const names = body.modelId === undefined ? { modelId: 'engineModelId' } : {};
  return answerSpeech(call, context, { surface: 'v2', order, names });
};

/** The name under which older clients chose the model. */
function historicalModel(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The name under which older clients gave the emotion. */
function historicalEmotion(value: unknown): string | undefined {
  const fits = typeof value === 'string' && value !== '' && value.length <= EMOTION_MAX_CHARACTERS;
  return fits ? value : undefined;
}

/** `POST /speech/tts` of v1 (docs/api/speech.md#v1). */
export const createSpeechV1: Handler<'createSpeechV1'> = (call, context) => {
  const { body } = call;
  const format: SpeechFormat = body.format ?? 'mp3';
  const order = { ...knownFields(body), voiceId: voiceOf(body) };
  const names = body.voiceId === undefined ? { voiceId: 'reference_id' } : {};
  const isCached = body.cache === true ? true : undefined;
  const request: SurfaceRequest = { surface: 'v1', order, names, isCached };
  return isCached === true
    ? answerCached(call, context, { ...request, format })
    : answerSpeech(call, context, request);
};

/** Returns the fields that a body that is not strict shares with v3, without any others. */
export function knownFields(body: Omit<SpeechRequest, 'voiceId'>): Omit<SpeechOrder, 'voiceId'> {
  const { text, modelId, format, language, emotion, instruction } = body;
  const { speed, volume, pitch, stability, similarity, textNormalization, filterEmoji } = body;
  const numbers = { speed, volume, pitch, stability, similarity };
  const others = { language, emotion, instruction, textNormalization, filterEmoji };
  return { text, modelId, format, ...numbers, ...others };
}

/**
 * The voice of a v1 body, under either of its names; `voiceId` counts where both are there.
 * @throws ServiceError 400 when there is neither
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

/**
 * `POST /speech/tts/aligned` of v3 (docs/api/speech.md#v3 and docs/api/speech.md#aligned-stream): the body and the money of `POST
 * /speech/tts`, and the audio with the times of its words as a stream of events.
 */
export const createAlignedSpeech: Handler<'createAlignedSpeech'> = async (call, context) => {
  const request = { surface: 'v3', isAligned: true, order: call.body } as const;
  const speaking = beginSpeech(call, context, request);
  const stream = await speakAligned(speaking);
  return paidAnswer(speaking.plan, stream, { type: EVENT_STREAM, tellsIgnored: true });
};

/** What a surface made of its body. */
export interface SurfaceRequest extends PlanOptions {
  readonly surface: SurfaceName;
  readonly order: SpeechOrder;
  /** The audio is stored, and the answer is its address; another request than one without. */
  readonly isCached?: boolean | undefined;
}

/**
 * Speaks an order and answers with audio that leaves while it is spoken (docs/api/README.md).
 */
export async function answerSpeech(
  call: ChargedCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Promise<Response> {
  const speaking = beginSpeech(call, context, request);
  const { tellsIgnored } = SPEECH_SURFACES[request.surface];
  const { plan } = speaking;
  const type = speechMediaType(plan.format);
  return paidAnswer(plan, await speakStream(speaking), { type, tellsIgnored });
}

/**
 * Plans an order and sets aside what it costs: the one way on which all surfaces do.
 * @throws ServiceError 400, 402, 404, 409, 429 or 503; nothing was charged then
 */
export function beginSpeech<Context extends ServiceContext>(
  call: ChargedCall,
  context: Context,
  request: SurfaceRequest,
): Speaking & { readonly context: Context } {
  const { account, requestId } = call;
  const { order, surface } = request;
  const key = operationKey(call, request);
  const names = { ...namesOf(surface), ...request.names };
  const plan = unlessBegun(context, key, () => {
    const planned = planSpeech(order, context.catalogue.of(account), { ...request, names });
    context.speechQueue.requireCapacity(account);
    return planned;
  });
  const { charge } = plan;
  const operation = beginOperation(context.operations, { ...key, requestId, charge });
  return { context, account, plan, operation, signal: call.request.signal, requestId };
}

/**
 * What was begun under this key is told so, though its voice or its model is not there any more: whoever
 * asks again wants to know whether it was charged.
 */
function unlessBegun<Result>(
  { operations }: ServiceContext,
  key: OperationKey,
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    const begun = operations.findBegun(key);
    throw begun === undefined ? error : usedBefore(begun);
  }
}

function namesOf(name: SurfaceName): NonNullable<PlanOptions['names']> {
  const { fields, modelHeader }: SpeechSurface = SPEECH_SURFACES[name];
  return modelHeader === undefined ? fields : { ...fields, modelId: modelHeader };
}

/** The type of a stream of server-sent events. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/**
 * An answer of whatever type with what it cost. Only v3 has a header for controls that were not
 * applied.
 */
export function paidAnswer(
  { charge, ignored }: Pick<SpeechPlan, 'charge' | 'ignored'>,
  { body, quotaRemaining }: SpokenStream,
  { type, tellsIgnored }: { readonly type: string; readonly tellsIgnored: boolean },
): Response {
  const price = priceHeaders({ quotaRemaining, creditsUsed: charge.credits });
  const headers = new Headers({ 'Content-Type': type, ...price });
  if (tellsIgnored && ignored.length > 0) headers.set(HEADERS.ignoredParameters, ignored.join(','));
  return new Response(body, { headers });
}

/**
 * Speaks an order whole, stores it and answers with its address; a request that was completed before
 * is answered as it was then, while the audio is there (docs/api/speech.md#v1 and docs/api/errors.md#idempotency).
 */
async function answerCached(
  call: ChargedCall,
  context: ServiceContext,
  { format, ...request }: SurfaceRequest & { readonly format: SpeechFormat },
): Promise<Response> {
  const { cachedSpeech } = context;
  const begun = begin(call, context, request);
  const record =
    'operation' in begun ? await speakCached(begun, cachedSpeech, format) : begun.record;
  // What comes later is not worth waiting for.
  void cachedSpeech.sweep().catch(() => undefined);
  return addressAnswer(call, context, record);
}

/** `GET /api/open/tts/cached/{audioId}`: what the address of a cached answer leads to (ours). */
export const getCachedAudio: Handler<'getCachedAudio'> = async (call, context) => {
  const { audioId } = call.parameters;
  requireSigned(call, context, { taskId: audioId, download: false });
  const found = await context.cachedSpeech.find(audioId);
  if (found === undefined) throw new ServiceError('ERR_AUDIO_NOT_FOUND', 'The audio is gone');
  return storedAudioAnswer(call, found.audio, { format: found.record.format, name: audioId });
};

function begin(
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

/** The address is the same each time, and good for as long as the audio is kept. */
function addressAnswer(
  { request }: Call,
  { links }: ServiceContext,
  { creditsUsed, expiresAt, id, quotaRemaining }: CachedRecord,
): Response {
  const { expires, signature } = links.sign({ taskId: id, download: false }, expiresAt);
  const url = new URL(endpointPath('getCachedAudio', { audioId: id }), request.url);
  url.search = new URLSearchParams({ expires: String(expires), signature }).toString();
  const body: CachedSpeech = {
    audio_url: url.href,
    credits_used: creditsUsed,
    quota_remaining: quotaRemaining,
  };
  return Response.json(body, { headers: priceHeaders({ quotaRemaining, creditsUsed }) });
}

/**
 * Speaks into a file that is whole when this resolves, and charges for it then (docs/api/speech.md#v1).
 * @throws ServiceError 400 for a text that cannot be spoken, 500 for anything else, refunded
 */
function speakCached(
  speaking: Speaking,
  cachedSpeech: CachedSpeechStore,
  format: SpeechFormat,
): Promise<CachedRecord> {
  const { operation, plan } = speaking;
  return generate(speaking, async (generation) => {
    const { id } = operation;
    const creditsUsed = plan.charge.credits;
    const writing = await cachedSpeech.open({ id, format, creditsUsed });
    try {
      await write(speaking, { writing, format, signal: generation.signal });
      const { quota } = requireSettled(operation.commit());
      let record: CachedRecord | undefined;
      operation.complete((db) => {
        record = writing.ready(db, quota);
      });
      const settled = requireSettled(record);
      generation.end();
      return settled;
    } catch (error) {
      await writing.output.abandon();
      await writing.discard();
      throw error;
    }
  });
}

interface Write {
  readonly writing: CachedWriting;
  readonly format: SpeechFormat;
  readonly signal: AbortSignal;
}

async function write(
  speaking: Speaking,
  { writing: { output }, format, signal }: Write,
): Promise<void> {
  const { encode } = speaking.context;
  const { gainDb } = speaking.plan;
  await writeSpeech({ output, encode, format, gainDb }, speechOf(speaking, signal));
  signal.throwIfAborted();
}
