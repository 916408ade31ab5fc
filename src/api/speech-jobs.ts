import { chargeOf } from '../contract/charges.ts';
import { SPEECH_SURFACES } from '../contract/speech-surfaces.ts';
import { Failure } from '../errors/failure.ts';
import type { Answer } from './answer.ts';
import { badAnswer } from './answer.ts';
import { charged } from './audio-answer.ts';
import type { ApiClient } from './client.ts';
import { readJson } from './client.ts';
import { endpoint } from './endpoint.ts';
import { isModelAvailable } from './models.ts';
import type { PollPace } from './poll-delay.ts';
import { POLL_FLOOR_MS, POLL_FLOOR_V1_MS } from './poll-delay.ts';
import type { PollCall, PollDeps } from './poll-job.ts';
import { pollJob } from './poll-job.ts';
import type { IdempotencyKey, RequestSpec } from './request.ts';
import { jsonBody } from './request.ts';
import type { JobApi, JobRef, SpeechJob } from './speech-job.ts';
import { readSpeechJob } from './speech-job.ts';
import type { SpeechOrder } from './speech-order.ts';
import { speechBody } from './speech-order.ts';

export type { JobApi, JobRef, SpeechJob };

export interface JobOptions {
  /** Which interface is asked; default v3. */
  readonly api?: JobApi | undefined;
  readonly idempotencyKey: Pick<IdempotencyKey, 'madeByTool' | 'value'>;
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told before a refunded request goes out again under a new key, so that it is recorded first. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
}

/** The request of {@link createSpeechJob}, to be described or sent. */
export function speechJobRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: JobOptions,
): RequestSpec {
  const { api = 'v3', idempotencyKey, onNewKey, requestId, signal } = options;
  const call = endpoint(api === 'v3' ? 'createJob' : 'createJobV1');
  const { recognizedBy: sentAs = 'Idempotency-Key' } = chargeOf(call.method, call.target);
  const { modelId } = order;
  return {
    ...call,
    body: jsonBody(speechBody(order, SPEECH_SURFACES[api])),
    billed: true,
    retry: 'keyed',
    key: { ...idempotencyKey, sentAs },
    requestId,
    signal,
    onNewKey,
    modelStillAvailable:
      modelId === undefined ? undefined : () => isModelAvailable(client, modelId, signal),
  };
}

/**
 * Has a text spoken in the background (spec sections 4.1 and 4.3). The same order under the same key is
 * answered with the same job and never billed twice.
 * @throws Failure; one whose answer names no job may have been billed
 */
export async function createSpeechJob(
  client: ApiClient,
  order: SpeechOrder,
  options: JobOptions,
): Promise<SpeechJob> {
  const answer = await client.send(speechJobRequest(client, order, options));
  const raw = await bodyOfCreate(answer);
  const job = readSpeechJob(options.api ?? 'v3', { ...answer, raw });
  if (job === undefined) throw charged(badAnswer('the answer names no job', answer));
  return job;
}

/** A place alone names the job too, whatever the body is. */
async function bodyOfCreate(answer: Answer): Promise<unknown> {
  return readJson(answer).catch((error: unknown) => {
    if (answer.headers.location !== undefined) return undefined;
    throw error instanceof Failure ? charged(error) : error;
  });
}

/**
 * A job as it is now (spec sections 4.1 and 4.3).
 * @throws Failure
 */
export async function getSpeechJob(
  client: ApiClient,
  { api, id }: JobRef,
  { maxRetries, signal }: Partial<PollCall> = {},
): Promise<SpeechJob> {
  const call =
    api === 'v3' ? endpoint('getJob', { jobId: id }) : endpoint('getJobV1', { taskId: id });
  const spec = { ...call, billed: false, retry: 'safe', maxRetries, signal } as const;
  const answer = await client.json(spec, (body) => body);
  const job = readSpeechJob(api, answer, id);
  if (job === undefined) throw badAnswer('the answer does not tell how the job is', answer);
  return { ...job, id };
}

/**
 * Waits until a speech job has ended, well or not.
 * @param ref the job, or the answer to its create, after which it is not asked about at once
 * @throws Failure as `pollJob` does
 */
export function pollSpeechJob(
  client: ApiClient,
  ref: JobRef,
  deps: PollDeps<SpeechJob> & { readonly known?: SpeechJob | undefined },
): Promise<SpeechJob> {
  const { id } = ref;
  return pollJob({ id, known: deps.known }, (call) => getSpeechJob(client, ref, call), deps);
}

/**
 * How often a service may be asked about its speech jobs (spec section 8: every 3 to 5 seconds in v1).
 * @param intervalMs `--poll-interval`, in milliseconds
 */
export function pollPace(client: ApiClient, api: JobApi, intervalMs?: number): PollPace {
  const isSlow = api === 'v1' && client.address.kind === 'hosted';
  return { floorMs: isSlow ? POLL_FLOOR_V1_MS : POLL_FLOOR_MS, intervalMs };
}
