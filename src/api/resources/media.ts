import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { Failure } from '../../errors/failure.ts';
import { resolveUrl, requireNonEmpty } from './speech.ts';
import type { FileResponse } from './speech.ts';
import type { ApiClient } from '../client.ts';
import type { AskForFile } from '../download.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { maybeBilled } from '../failures.ts';
import type { PollPace, PollCall, PolledJob } from '../poll.ts';
import { POLL_FLOOR_MS, jobCost, jobPhase } from '../poll.ts';
import { endpoint, jsonBody, safeRequest } from '../request.ts';
import type { IdempotencyKey, RequestOptions, RequestSpec } from '../request.ts';
import type { UnknownRecord, JsonResponse, ParsedResponse } from '../response.ts';
import {
  badResponse,
  firstId,
  firstNumber,
  firstRecord,
  firstText,
  isRecord,
  isStringArray,
  readArray,
} from '../response.ts';
import type { JobError, JobPageQuery, JobPage } from './jobs.ts';
import { allJobs, jobIdIn, jobPage, readAccepted, readJobError, readPolledJob } from './jobs.ts';
import { explainMissingFeature } from './models.ts';
import type { MediaJobKind } from './models.ts';

/** The JSON body of a request that creates a media job (docs/api/media.md and docs/api/lip-sync.md). */
export type MediaRequest = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** Options for creating a media job. A lip sync is never retried: the service may ignore the idempotency key. */
export interface MediaOptions extends RequestOptions {
  readonly idempotencyKey: IdempotencyKey | undefined;
  readonly onRepeat?: RequestSpec['onRepeat'];
}

const ENDPOINTS_OF: Readonly<
  Record<MediaJobKind, { readonly create: EndpointId; readonly get: EndpointId }>
> = {
  lipsync: { create: 'createLipSync', get: 'getLipSync' },
  dub: { create: 'createDubbing', get: 'getDubbing' },
  image: { create: 'createImageJob', get: 'getImageJob' },
  video: { create: 'createVideoJob', get: 'getVideoJob' },
};

/** Builds the request that {@link sendMediaJob} sends. */
export function mediaJobRequest(
  kind: MediaJobKind,
  order: MediaRequest,
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
  return kind === 'lipsync'
    ? { ...request, retry: 'never', lookAt: LOOK_AT }
    : { ...request, retry: 'keyed', onNewKey };
}

const LOOK_AT =
  'Check with `foley lipsync list` whether the job was created before you create it again.';

/**
 * Creates a lip-sync, dubbing, image or video job (docs/api/lip-sync.md and docs/api/media.md).
 * @param request built by {@link mediaJobRequest}
 * @throws Failure. If the response contains no job id, the request may have been billed.
 */
export async function sendMediaJob(
  client: ApiClient,
  kind: MediaJobKind,
  request: RequestSpec,
): Promise<MediaJob> {
  const response = await client.send(request).catch(async (error: unknown) => {
    throw await explainMissingFeature(client, error, kind, request);
  });
  const raw = await readAccepted(response);
  const job = readMediaJob(kind, { ...response, raw });
  if (job === undefined) throw maybeBilled(badResponse('the response names no job', response));
  return job;
}

/** Returns the current state of a media job (docs/api/lip-sync.md and docs/api/media.md). @throws Failure */
export async function getMediaJob(
  client: ApiClient,
  kind: MediaJobKind,
  id: string,
  { maxRetries, signal }: Partial<PollCall> = {},
): Promise<MediaJob> {
  const request = safeRequest(ENDPOINTS_OF[kind].get, { jobId: id }, { maxRetries, signal });
  return readPolledJob(client, request, id, (response) => readMediaJob(kind, response, id));
}

/**
 * Returns the limits for the delays between polls of a media job.
 * @param intervalMs `--poll-interval`, in milliseconds
 */
export function mediaPace(intervalMs?: number): PollPace {
  return { floorMs: POLL_FLOOR_MS, intervalMs };
}

/** The billed seconds of a lip sync, and the rule by which the service computed them (docs/api/lip-sync.md). */
export interface LipSyncBilling {
  readonly billedSeconds: number;
  readonly videoSeconds: number | undefined;
  readonly audioSeconds: number | undefined;
  /** The billing rule that the service applied, such as `shorter_input_rounded_up`. */
  readonly rule: string | undefined;
}

/** A media job (docs/api/lip-sync.md and docs/api/media.md#jobs). */
export interface MediaJob extends PolledJob {
  readonly kind: MediaJobKind;
  readonly requestId: string;
  /** Progress in percent, if the service reports it. */
  readonly progress: number | undefined;
  /** The cost of a dubbing job in credits, by step name; undefined if the service does not report it. */
  readonly creditsByPart: Readonly<Record<string, number>> | undefined;
  readonly quotaRemaining: number | undefined;
  readonly billing: LipSyncBilling | undefined;
  /** The URL of the result as the service returned it, possibly relative. */
  readonly resultUrl: string | undefined;
  readonly error: JobError | undefined;
  /** Warnings of the service about the result of the job. */
  readonly notices: readonly string[] | undefined;
  /** The JSON object that describes the job. */
  readonly data: UnknownRecord;
  /** The complete JSON body of the response, from which `data` was taken. */
  readonly raw: unknown;
}

function readMediaJob(
  kind: MediaJobKind,
  { headers, raw, requestId, retryAfterMs }: ParsedResponse,
  known?: string,
): MediaJob | undefined {
  const body = firstRecord(raw) ?? {};
  const data = firstRecord(body['data'], body['job'], body['task']) ?? body;
  const id = idOf(data) ?? known ?? jobIdIn(headers.location);
  // A create response may name only the id of the job (docs/api/lip-sync.md#dubbing).
  const status = firstText(data['status'], known === undefined ? 'pending' : undefined);
  if (id === undefined || status === undefined) return undefined;
  const job = readMediaData(kind, { ...body, ...data }, id, status);
  return {
    ...job,
    data,
    requestId: firstText(body['requestId']) ?? requestId,
    creditsUsed: job.creditsUsed ?? jobCost(status, headers.creditsUsed),
    quotaRemaining: firstNumber(body['quotaRemaining']) ?? headers.quotaRemaining,
    retryAfterMs,
    raw,
  };
}

function idOf(data: UnknownRecord): string | undefined {
  return firstId(data['id'], data['task_id'], data['taskId'], data['job_id']);
}

function readMediaData(
  kind: MediaJobKind,
  data: UnknownRecord,
  id: string,
  status: string,
): MediaJob {
  const credits = data['credits_used'] ?? data['creditsUsed'];
  return {
    id,
    kind,
    status,
    phase: jobPhase(status),
    progress: percent(data['progress']),
    // If a dubbing fails, its speech may still be billed, so the reported credits count.
    creditsUsed: isRecord(credits) ? totalOf(credits) : jobCost(status, firstNumber(credits)),
    creditsByPart: isRecord(credits) ? partsOf(credits) : undefined,
    billing: billingOf(data),
    resultUrl: resultOf(data),
    error: readJobError(data),
    notices: isStringArray(data['notices']) ? data['notices'] : undefined,
    data,
    requestId: '',
    quotaRemaining: undefined,
    retryAfterMs: undefined,
    raw: data,
  };
}

// Some responses repeat the URLs of inputs under other field names.
function resultOf(data: UnknownRecord): string | undefined {
  const result = firstRecord(data['result']) ?? {};
  return firstText(
    data['result_url'],
    data['resultUrl'],
    result['url'],
    result['result_url'],
    data['output_url'],
    data['download_url'],
    data['url'],
  );
}

function billingOf(data: UnknownRecord): LipSyncBilling | undefined {
  const billedSeconds = firstNumber(data['billing_duration_seconds']);
  if (billedSeconds === undefined) return undefined;
  return {
    billedSeconds,
    videoSeconds: firstNumber(data['video_duration_seconds']),
    audioSeconds: firstNumber(data['audio_duration_seconds']),
    rule: firstText(data['billing_rule']),
  };
}

function partsOf(credits: UnknownRecord): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(credits).flatMap(([part, value]) =>
      typeof value === 'number' && part !== 'total' ? [[part, value]] : [],
    ),
  );
}

function totalOf(credits: UnknownRecord): number | undefined {
  const parts = Object.values(partsOf(credits));
  const sum = parts.length === 0 ? undefined : parts.reduce((total, part) => total + part, 0);
  return firstNumber(credits['total']) ?? sum;
}

function percent(value: unknown): number | undefined {
  const given = firstNumber(value);
  return given === undefined ? undefined : Math.max(0, Math.min(100, given));
}

/**
 * Downloads the result of a media job (docs/api/lip-sync.md and docs/api/media.md#jobs). The download is free and
 * repeatable. The API key is sent only to the service, not to file storage.
 * @throws Failure: `rejected` for a running job, `bad_answer` for an ended job without a result URL
 */
export async function fetchMediaResult(
  client: ApiClient,
  job: MediaJob,
  signal?: AbortSignal,
): Promise<FileResponse> {
  if (job.phase === 'running') throw notYet(job);
  const target = resolveUrl(client, job.resultUrl);
  if (target === undefined) {
    throw badResponse(`job ${job.id} (status: ${job.status}) has no URL for the result`, {
      requestId: job.requestId,
    });
  }
  return fetchFile(client, signal, async (headers, isAgain) => {
    const { resultUrl } = isAgain ? await getMediaJob(client, job.kind, job.id, { signal }) : job;
    const url = resolveUrl(client, resultUrl) ?? target;
    return client.send({ ...MEDIA_REQUEST, target: url, headers, signal });
  });
}

/**
 * Downloads a file from the service or its file storage.
 * @throws Failure
 */
export async function fetchMediaFile(
  client: ApiClient,
  target: URL,
  signal?: AbortSignal,
): Promise<FileResponse> {
  return fetchFile(client, signal, (headers) =>
    client.send({ ...MEDIA_REQUEST, target, headers, signal }),
  );
}

const MEDIA_REQUEST = {
  ...FILE_REQUEST,
  accept: 'image/*, video/*, audio/*, application/octet-stream',
} as const;

async function fetchFile(
  client: ApiClient,
  signal: AbortSignal | undefined,
  ask: AskForFile,
): Promise<FileResponse> {
  const response = await download(client, ask, signal);
  const { contentLength, framing, headers, requestId, rest, status } = response;
  if (status !== 200 || contentLength === 0) {
    response.discard();
    throw badResponse(`the response (${status}) has no file`, response);
  }
  return {
    body: { [Symbol.asyncIterator]: () => requireNonEmpty(response) },
    contentType: headers.get('content-type') ?? '',
    contentLength,
    pcm: undefined,
    framing,
    rest,
    requestId,
    // The credits in the download response are not the cost of the job.
    creditsUsed: undefined,
    maxBytes: client.maxBytes,
    discard: () => response.discard(),
  };
}

function notYet({ id, kind, requestId, status }: MediaJob): Failure {
  return new Failure(`job ${id} has no result yet (status: ${status})`, {
    code: 'ERR_MEDIA_NOT_FOUND',
    exit: 'rejected',
    hint: `Run \`foley ${kind} wait ${id} -o FILE\` to wait for the result.`,
    requestId,
  });
}

/** Lists one page of the account's lip-sync jobs (docs/api/lip-sync.md). */
export function listLipSync(
  client: ApiClient,
  query: JobPageQuery,
  signal?: AbortSignal,
): Promise<JsonResponse<JobPage<MediaJob>>> {
  const request = safeRequest('listLipSync', {}, { query: { ...query }, signal });
  return client.json(request, (body) => readLipSyncPage(body, query.page ?? 1));
}

/** Lists all matching lip-sync jobs from all pages. */
export async function* allLipSync(
  client: ApiClient,
  { status }: JobPageQuery,
  signal?: AbortSignal,
): AsyncGenerator<MediaJob, void, undefined> {
  const list = (page: number) =>
    listLipSync(client, { status, page, limit: PAGE_SIZE_MAX }, signal);
  for await (const { item } of allJobs(list)) yield item;
}

function readLipSyncPage(body: unknown, requested: number): JobPage<MediaJob> | undefined {
  if (!isRecord(body)) return undefined;
  const data = firstRecord(body['data']) ?? body;
  const list = [data['items'], data['jobs'], body['data']].find((value) => Array.isArray(value));
  const items = readArray(list, (item) => (isRecord(item) ? readListed(item) : undefined));
  return jobPage(items, data['pagination'] ?? body['pagination'], requested);
}

// The API does not document the fields of the items.
function readListed(item: UnknownRecord): MediaJob | undefined {
  const id = idOf(item);
  if (id === undefined) return undefined;
  return readMediaData('lipsync', item, id, firstText(item['status']) ?? '');
}
