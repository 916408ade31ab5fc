import type { EndpointId } from '../contract/endpoints.ts';
import type { Answer } from './answer.ts';
import { badAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { namesNothing, readCreateAnswer } from './create-answer.ts';
import { endpoint } from './endpoint.ts';
import { missingCapability } from './media-capability.ts';
import type { MediaJob, MediaJobKind } from './media-job.ts';
import { readMediaJob } from './media-job.ts';
import type { PollPace } from './poll-delay.ts';
import { POLL_FLOOR_MS } from './poll-delay.ts';
import type { PollCall } from './poll-job.ts';
import type { AttemptOutcome } from './retry.ts';
import type { IdempotencyKey, RequestSpec } from './request.ts';
import { jsonBody } from './request.ts';

/** What is asked for, by the fields of the spec's sections 4.7 and 4.8; what is undefined is not sent. */
export type MediaOrder = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface MediaOptions {
  /**
   * Sent where there is one. Of lip sync no document says that a repetition is recognized by it: that is
   * never sent again by itself.
   */
  readonly idempotencyKey: Pick<IdempotencyKey, 'madeByTool' | 'value'> | undefined;
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told before a refunded request goes out again under a new key, so that it is recorded first. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
  /** Told before it is sent once more. */
  readonly onRepeat?: ((before: AttemptOutcome) => void) | undefined;
}

interface KindEndpoints {
  readonly create: EndpointId;
  readonly get: EndpointId;
}

const ENDPOINTS_OF: Readonly<Record<MediaJobKind, KindEndpoints>> = {
  lipsync: { create: 'createLipSync', get: 'getLipSync' },
  dub: { create: 'createDubbing', get: 'getDubbing' },
  image: { create: 'createImageJob', get: 'getImageJob' },
  video: { create: 'createVideoJob', get: 'getVideoJob' },
};

/** Whether a create of this kind is recognized when it is sent again (contract, section 5). */
export function isKeyed(kind: MediaJobKind): boolean {
  return kind !== 'lipsync';
}

/** The request of {@link createMediaJob}, to be described or sent. */
export function mediaJobRequest(
  kind: MediaJobKind,
  order: MediaOrder,
  { idempotencyKey, onNewKey, onRepeat, requestId, signal }: MediaOptions,
): RequestSpec {
  const call = endpoint(ENDPOINTS_OF[kind].create);
  const key = idempotencyKey && { ...idempotencyKey, sentAs: 'Idempotency-Key' as const };
  const request = {
    ...call,
    body: jsonBody(order),
    billed: true,
    key,
    requestId,
    signal,
    onRepeat,
  };
  return isKeyed(kind)
    ? { ...request, retry: 'keyed', onNewKey }
    : { ...request, retry: 'never', lookAt: LOOK_AT };
}

const LOOK_AT =
  '`foley lipsync list` shows whether the job was created; look before you create it again.';

/**
 * Orders a lip sync, a dubbing, an image or a video (spec sections 4.7 and 4.8).
 * @throws Failure; one whose answer names no job may have been billed
 */
export async function createMediaJob(
  client: ApiClient,
  kind: MediaJobKind,
  order: MediaOrder,
  options: MediaOptions,
): Promise<MediaJob> {
  const request = mediaJobRequest(kind, order, options);
  const answer = await send(client, kind, request);
  const { raw } = await readCreateAnswer(answer, []);
  const job = readMediaJob(kind, { ...answer, raw });
  if (job === undefined) throw namesNothing('job', answer);
  return job;
}

async function send(client: ApiClient, kind: MediaJobKind, request: RequestSpec): Promise<Answer> {
  try {
    return await client.send(request);
  } catch (error) {
    throw await missingCapability(client, { error, kind, request });
  }
}

/**
 * A job as it is now (spec sections 4.7 and 4.8).
 * @throws Failure
 */
export async function getMediaJob(
  client: ApiClient,
  kind: MediaJobKind,
  id: string,
  { maxRetries, signal }: Partial<PollCall> = {},
): Promise<MediaJob> {
  const call = endpoint(ENDPOINTS_OF[kind].get, { jobId: id });
  const spec = { ...call, billed: false, retry: 'safe', maxRetries, signal } as const;
  const answer = await client.json(spec, (body) => body);
  const job = readMediaJob(kind, answer, id);
  if (job === undefined) throw badAnswer('the answer does not tell how the job is', answer);
  return { ...job, id };
}

/** How often a service may be asked about such jobs; no document says so. @param intervalMs `--poll-interval` */
export function mediaPace(intervalMs?: number): PollPace {
  return { floorMs: POLL_FLOOR_MS, intervalMs };
}
