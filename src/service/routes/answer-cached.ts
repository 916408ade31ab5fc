import { HEADERS } from '../../contract/headers.ts';
import { SignedAudioQuery } from '../../contract/schemas/job.ts';
import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import type { CachedSpeech } from '../../contract/schemas/speech-v1.ts';
import type { CachedRecord } from '../cached-speech/cached-speech-records.ts';
import { speakCached } from '../cached-speech/speak-cached.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { requireQuery } from '../http/query.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { Speaking } from '../synthesis/speak.ts';
import type { SurfaceRequest } from './answer-speech.ts';
import { beginSpeech } from './answer-speech.ts';
import type { AccountCall, Handler } from './call.ts';
import { storedAudioAnswer } from './stored-audio.ts';

/**
 * Speaks an order whole, stores it and answers with its address; a request that was completed before
 * is answered as it was then, while the audio is there (spec sections 4.3 and 7.2).
 */
export async function answerCached(
  call: AccountCall,
  context: ServiceContext,
  { format, ...request }: SurfaceRequest & { readonly format: SpeechFormat },
): Promise<Response> {
  const { cachedSpeech } = context;
  const begun = begin(call, context, { ...request, isCached: true });
  const record =
    'operation' in begun ? await speakCached(begun, cachedSpeech, format) : begun.record;
  // What comes later is not worth waiting for.
  void cachedSpeech.sweep().catch(() => undefined);
  return addressAnswer(call, context, record);
}

/** `GET /api/open/tts/cached/{audioId}`: what the address of a cached answer leads to (ours). */
export const getCachedAudio: Handler = async ({ request, parameters }, context) => {
  const { download, expires, signature } = requireQuery(request.url, SignedAudioQuery);
  const { audioId = '' } = parameters;
  if (!context.links.isGood({ taskId: audioId, download: false }, { expires, signature })) {
    const message = 'This link was not given by this service, or it has expired';
    throw new ServiceError('ERR_FORBIDDEN', message);
  }
  const found = await context.cachedSpeech.find(audioId);
  if (found === undefined) throw new ServiceError('ERR_AUDIO_NOT_FOUND', 'The audio is gone');
  const { format } = found.record;
  const isAttachment = download === '1';
  return storedAudioAnswer(found.audio, { request, format, name: audioId, isAttachment });
};

function begin(
  call: AccountCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Speaking | { readonly record: CachedRecord } {
  try {
    return beginSpeech(call, context, request);
  } catch (error) {
    const { idempotencyKey } = request;
    const isDone = error instanceof ServiceError && error.code === 'ERR_REQUEST_ALREADY_COMPLETED';
    if (!isDone || idempotencyKey === undefined) throw error;
    const record = context.cachedSpeech.findByKey({ accountId: call.account, idempotencyKey });
    if (record === undefined) throw error;
    return { record };
  }
}

/** The address is the same each time, and good for as long as the audio is kept. */
function addressAnswer(
  { request }: AccountCall,
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
  const headers = {
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(creditsUsed),
  };
  return Response.json(body, { headers });
}
