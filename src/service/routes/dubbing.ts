import type {
  DubbingAccepted,
  DubbingAnswer,
  DubbingCredits,
} from '../../contract/schemas/dubbing.ts';
import { DubbingRequest } from '../../contract/schemas/dubbing.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { acceptDubbing } from '../media/dubbing/accept-dubbing.ts';
import type { DubbingRecord } from '../media/dubbing/dubbing-records.ts';
import { requireDubbing } from '../media/dubbing/dubbing-records.ts';
import type { MediaJob } from '../media/jobs/media-job-records.ts';
import { storedOrder } from '../media/jobs/stored-order.ts';
import { StoredLipSync } from '../media/lipsync/stored-lip-sync.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { AccountCall, Handler } from './call.ts';
import {
  acceptedHeaders,
  envelopeOf,
  lipSyncFields,
  pollHeadersOf,
  requireMediaJob,
} from './media-answers.ts';

/** `POST /media/video-dubbing/jobs` (spec sections 2.7, 4.7 and 7.3). */
export const createDubbing: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(DubbingRequest, await readJsonBody(call.request), 'The body');
  const { account: accountId, requestId, request } = call;
  const idempotencyKey = idempotencyKeyOf(request.headers);
  const order = { accountId, requestId, idempotencyKey, body, signal: request.signal };
  const record = await acceptDubbing(order, context);
  const job = requireStarted(call, context, record);
  const { credits } = storedOrder(StoredLipSync, job);
  const used = creditsOf(record, credits);
  const accepted: DubbingAccepted = {
    ...envelopeOf({ status: 'pending' }),
    data: { id: job.id, status: 'pending', credits_used: used },
  };
  const location = endpointPath('getDubbing', { jobId: job.id });
  const headers = acceptedHeaders(call, context, { job, location, creditsUsed: used.total });
  return Response.json(accepted, { status: 202, headers });
};

/** `GET /media/video-dubbing/jobs/{jobId}` (spec sections 2.7 and 4.7). */
export const getDubbing: Handler<AccountCall> = (call, context) => {
  const { jobId = '' } = call.parameters;
  const job = requireMediaJob(call, context, { kind: 'video_dubbing', jobId });
  const record = context.store.read((db) => requireDubbing(db, job.id));
  const body: DubbingAnswer = {
    ...envelopeOf(job),
    data: {
      ...lipSyncFields(call, context, job),
      credits_used: creditsOf(record, job.credits),
      tempo: storedOrder(StoredLipSync, job).tempo,
      tts_audio_url: context.media.link(call.request.url, record.speechFileId),
    },
  };
  return Response.json(body, { headers: pollHeadersOf(job, context) });
};

/**
 * The job that a dubbing came to.
 * @throws ServiceError that names the speech, which was paid for, when it came to none (spec section 7.3)
 */
function requireStarted(
  { request }: AccountCall,
  { media }: ServiceContext,
  { end, speechCredits, speechFileId }: DubbingRecord,
): MediaJob {
  if ('job' in end) return end.job;
  const { code, details, message } = end.refusal;
  throw new ServiceError(code, `${message}. The speech was made and is not refunded`, {
    details: {
      ...details,
      tts_audio_url: media.link(request.url, speechFileId),
      tts_credits_used: speechCredits,
    },
  });
}

function creditsOf({ speechCredits }: DubbingRecord, lipSync: number): DubbingCredits {
  return { tts: speechCredits, lip_sync: lipSync, total: speechCredits + lipSync };
}
