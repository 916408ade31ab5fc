import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import { chargeOf } from '../../contract/endpoint-lookup.ts';
import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { Failure } from '../../errors/failure.ts';
import { requireAudio, resolveUrl, speechBody } from './speech.ts';
import type { AudioResponse, SpeechOrder } from './speech.ts';
import type { ApiClient } from '../client.ts';
import { readBilledJson, readJson } from '../client.ts';
import type { AskForFile } from '../download.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { maybeBilled } from '../failures.ts';
import { modelCheck } from './models.ts';
import type { PollPace, PollCall, PolledJob } from '../poll.ts';
import { POLL_FLOOR_MS, POLL_FLOOR_V1_MS, jobCost, jobPhase } from '../poll.ts';
import { endpoint, jsonBody, keyedRequest, safeRequest } from '../request.ts';
import type { BilledCallOptions, RequestBody, RequestSpec } from '../request.ts';
import type { ApiResponse, JsonResponse, ParsedResponse, UnknownRecord } from '../response.ts';
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

export interface JobOptions extends BilledCallOptions {
  /** The API version of the endpoint; default v3. */
  readonly api?: JobApi | undefined;
}

/** Returns the JSON body of the request that creates a speech job. */
export function speechJobBody(order: SpeechOrder, api: JobApi = 'v3'): RequestBody {
  return jsonBody(speechBody(order, SPEECH_SURFACES[api]));
}

/** Builds the request that {@link createSpeechJob} sends. */
export function speechJobRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: JobOptions,
): RequestSpec {
  const { api = 'v3', signal } = options;
  const call = endpoint(api === 'v3' ? 'createJob' : 'createJobV1');
  const { idempotencyHeader } = chargeOf(call.method, call.target);
  return {
    ...keyedRequest(call, speechJobBody(order, api), options, idempotencyHeader),
    modelStillAvailable: modelCheck(client, order.modelId, signal),
  };
}

/**
 * Creates a speech job (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). Retrying with the same idempotency key returns
 * the same job and is not billed again.
 * @throws Failure. If the response contains no job id, the request may have been billed.
 */
export async function createSpeechJob(
  client: ApiClient,
  order: SpeechOrder,
  options: JobOptions,
): Promise<SpeechJob> {
  return sendSpeechJob(client, options.api ?? 'v3', speechJobRequest(client, order, options));
}

/** Creates a speech job with a request from {@link speechJobRequest}. @throws Failure */
export async function sendSpeechJob(
  client: ApiClient,
  api: JobApi,
  request: RequestSpec,
): Promise<SpeechJob> {
  const response = await client.send(request);
  const raw = await readAccepted(response);
  const job = readSpeechJob(api, { ...response, raw });
  if (job === undefined) throw maybeBilled(badResponse('the response names no job', response));
  return job;
}

/**
 * Reads the JSON body of a response that created a job. Returns undefined for an invalid body if the Location header
 * may contain the job id.
 * @throws Failure of kind `bad_answer`, marked as possibly billed
 */
export function readAccepted(response: ApiResponse): Promise<unknown> {
  return readBilledJson(response).catch((error: unknown) => {
    if (response.headers.location === undefined) throw error;
  });
}

/** Returns the current state of a speech job (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). @throws Failure */
export async function getSpeechJob(
  client: ApiClient,
  { api, id }: JobRef,
  { maxRetries, signal }: Partial<PollCall> = {},
): Promise<SpeechJob> {
  const options = { maxRetries, signal };
  const request =
    api === 'v3'
      ? safeRequest('getJob', { jobId: id }, options)
      : safeRequest('getJobV1', { taskId: id }, options);
  return readPolledJob(client, request, id, (response) => readSpeechJob(api, response, id));
}

/**
 * Requests the state of a job and parses the response with `read`.
 * @throws Failure of kind `bad_answer` for a response without a job status
 */
export async function readPolledJob<Job>(
  client: ApiClient,
  request: RequestSpec,
  id: string,
  read: (response: JsonResponse<unknown>) => Job | undefined,
): Promise<Job> {
  const response = await client.json(request, (body) => body);
  const job = read(response);
  if (job !== undefined) return { ...job, id };
  throw badResponse('the response does not have the status of the job', response);
}

/**
 * Returns the limits for the delays between polls of a speech job. Polls of v1 need longer delays (docs/api/limits.md).
 * @param intervalMs `--poll-interval`, in milliseconds
 */
export function pollPace(client: ApiClient, api: JobApi, intervalMs?: number): PollPace {
  const isSlow = api === 'v1' && client.address.kind === 'hosted';
  return { floorMs: isSlow ? POLL_FLOOR_V1_MS : POLL_FLOOR_MS, intervalMs };
}

/** The API versions that have speech jobs (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export type JobApi = 'v3' | 'v1';

export interface JobRef {
  readonly id: string;
  readonly api: JobApi;
}

/** A speech job, in a form that is the same for v3 and v1. */
export interface SpeechJob extends JobRef, PolledJob {
  readonly requestId: string;
  readonly quotaRemaining: number | undefined;
  /** Speech controls that the service did not apply; undefined if the service does not report them. */
  readonly ignoredParameters: readonly string[] | undefined;
  readonly format: AudioFormat | undefined;
  readonly segments: readonly SpeechJobSegment[];
  readonly error: JobError | undefined;
  readonly raw: unknown;
}

/** A part of the job's text that has its own audio. */
export interface SpeechJobSegment {
  /** Index of the segment, from 0. */
  readonly index: number;
  readonly status: string | undefined;
  /** The URL of the audio as the service returned it, possibly relative. */
  readonly audioUrl: string | undefined;
}

export interface JobError {
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/**
 * Reads a job from the response to a create request or a poll. Returns undefined if the response contains no job.
 * @param known the id of the polled job; undefined for a new job
 */
export function readSpeechJob(
  api: JobApi,
  response: ParsedResponse,
  known?: string,
): SpeechJob | undefined {
  const { headers, raw, requestId, retryAfterMs } = response;
  const body = firstRecord(raw) ?? {};
  const task = firstRecord(body['task'], body['data'], body['job']) ?? body;
  const record = firstRecord(body['record']) ?? {};
  const id =
    firstId(task['taskId'], task['id'], record['id']) ?? known ?? jobIdIn(headers.location);
  // A create response may name only the id of the job.
  const isNew = known === undefined;
  const status = firstText(task['status'], record['status'], isNew ? 'pending' : undefined);
  if (id === undefined || status === undefined) return undefined;
  const ignored = body['ignoredParameters'] ?? task['ignoredParameters'];
  return {
    id,
    api,
    status,
    phase: jobPhase(status),
    retryAfterMs,
    requestId: firstText(body['requestId']) ?? requestId,
    creditsUsed: jobCost(
      status,
      firstNumber(body['creditsUsed'], task['creditsUsed']) ?? headers.creditsUsed,
    ),
    quotaRemaining: firstNumber(body['quotaRemaining']) ?? headers.quotaRemaining,
    ignoredParameters: isStringArray(ignored) ? ignored : undefined,
    format: AUDIO_FORMATS.find((format) => format === task['format']),
    segments: segmentsOf(task['segments']),
    error: readJobError(task, task['error'] ?? body['error']),
    raw,
  };
}

/** Returns the job id in the URL of a Location header. */
export function jobIdIn(location: string | undefined): string | undefined {
  const segment = /\/jobs\/([^/?#]+)\/?(?:[?#].*)?$/.exec(location ?? '')?.[1];
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function segmentsOf(value: unknown): readonly SpeechJobSegment[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((segment): segment is UnknownRecord => isRecord(segment))
    .map((segment, position) => {
      const { audioUrl, index, playbackUrl, status, url } = segment;
      return {
        index: firstNumber(index) ?? position,
        status: firstText(status),
        audioUrl: firstText(playbackUrl, audioUrl, url),
      };
    });
}

/** Reads the reason why a job failed. Returns undefined if the service reports no reason. */
export function readJobError(job: UnknownRecord, error = job['error']): JobError | undefined {
  const fields = isRecord(error) ? error : { message: error };
  const code = firstText(fields['code'], job['error_code'], job['errorCode']);
  const message = firstText(fields['message'], job['error_message'], job['errorMessage']);
  return code === undefined && message === undefined ? undefined : { code, message };
}

/**
 * Downloads the audio of a job (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). The download is free and repeatable.
 * File storage never receives the API key.
 * @throws Failure
 */
export async function fetchJobAudio(
  client: ApiClient,
  { api, id }: JobRef,
  signal?: AbortSignal,
): Promise<AudioResponse> {
  const { target } =
    api === 'v3'
      ? endpoint('getJobAudio', { jobId: id })
      : endpoint('getTaskAudio', { taskId: id });
  return getAudio(client, target, signal);
}

/**
 * Downloads the audio of one segment. The audio may be available before the job has ended.
 * @param index index of the segment, from 0
 * @throws Failure of kind `rejected` if the job has no audio for this segment
 */
export async function fetchSegmentAudio(
  client: ApiClient,
  ref: JobRef,
  index: number,
  signal?: AbortSignal,
): Promise<AudioResponse> {
  if (ref.api === 'v3') {
    const { target } = endpoint('getJobSegment', { jobId: ref.id, segmentIndex: `${index}` });
    return getAudio(client, target, signal);
  }
  return getAudio(client, () => segmentLink(client, ref, index, signal), signal);
}

async function segmentLink(
  client: ApiClient,
  ref: JobRef,
  index: number,
  signal: AbortSignal | undefined,
): Promise<URL> {
  const { requestId, segments, status } = await getSpeechJob(client, ref, { signal });
  const address = segments.find((segment) => segment.index === index)?.audioUrl;
  const url = resolveUrl(client, address);
  if (url !== undefined) return url;
  throw new Failure(
    `job ${ref.id} has no audio for segment ${index} (status of the job: ${status})`,
    {
      code: 'ERR_AUDIO_NOT_FOUND',
      exit: 'rejected',
      hint: 'Segments are numbered from 0. In v1, their audio is available once the job has ended.',
      requestId,
    },
  );
}

async function getAudio(
  client: ApiClient,
  place: string | (() => Promise<URL>),
  signal: AbortSignal | undefined,
): Promise<AudioResponse> {
  const request = { ...FILE_REQUEST, accept: 'audio/*, application/json', signal };
  const ask: AskForFile = async (headers) => {
    const target = typeof place === 'string' ? place : await place();
    const response = await client.send({ ...request, target, headers });
    if (response.headers.contentType !== 'application/json') return response;
    // The API does not document this response, which may contain the URL of the audio.
    const url = resolveUrl(client, addressIn(await readJson(response)));
    if (url !== undefined)
      return client.send({ ...request, accept: 'audio/*', target: url, headers });
    throw badResponse('the response has neither audio nor its URL', response);
  };
  const response = await download(client, ask, signal);
  const audio = await requireAudio(client, response, { isOpaqueFine: true });
  // The credits in the download response are not the cost of the job.
  return { ...audio, creditsUsed: undefined };
}

function addressIn(body: unknown): unknown {
  const outer = firstRecord(body) ?? {};
  const fields = firstRecord(outer['segment'], outer['data']) ?? outer;
  return fields['audioUrl'] ?? fields['playbackUrl'] ?? fields['downloadUrl'] ?? fields['url'];
}

/** Filters of a job list, and its page. */
export interface JobPageQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
}

/** Filters of a list of speech jobs (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export interface SpeechJobQuery extends JobPageQuery {
  /** Lists only jobs created after this time, in ISO 8601 format; v1 only. */
  readonly createdAfter?: string | undefined;
}

/** An item of a job list, in a form that is the same for v3 and v1. */
export interface JobSummary {
  readonly id: string;
  readonly status: string;
  readonly characters: number | undefined;
  readonly textPreview: string;
  readonly voiceId: string;
  readonly modelId: string;
  readonly creditsUsed: number | undefined;
  readonly createdAt: string;
}

export interface JobPage<Job> {
  readonly items: readonly Job[];
  readonly page: number;
  /** Number of the next page; undefined on the last page. */
  readonly nextPage: number | undefined;
}

/** Lists one page of the account's speech jobs, newest first. */
export function listSpeechJobs(
  client: ApiClient,
  api: JobApi,
  query: SpeechJobQuery,
  signal?: AbortSignal,
): Promise<JsonResponse<JobPage<JobSummary>>> {
  const id = api === 'v3' ? 'listJobs' : 'listJobsV1';
  const request = safeRequest(id, {}, { query: { ...query }, signal });
  return client.json(request, (body) => {
    const { items, pagination } = firstRecord(body) ?? {};
    return jobPage(readArray(items, readListed), pagination, query.page ?? 1);
  });
}

/** Lists all matching jobs from all pages; each item includes its original JSON. */
export function allSpeechJobs(
  client: ApiClient,
  api: JobApi,
  query: SpeechJobQuery,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly item: JobSummary; readonly raw: unknown }, void, undefined> {
  return allJobs((page) =>
    listSpeechJobs(client, api, { ...query, page, limit: PAGE_SIZE_MAX }, signal),
  );
}

/** Yields the jobs of all pages. Skips a job that was already on an earlier page. */
export async function* allJobs<Job extends { readonly id: string }>(
  list: (page: number) => Promise<JsonResponse<JobPage<Job>>>,
): AsyncGenerator<{ readonly item: Job; readonly raw: unknown }, void, undefined> {
  const seen = new Set<string>();
  for (let page: number | undefined = 1; page !== undefined;) {
    const { raw, value } = await list(page);
    const items: unknown = isRecord(raw) ? raw['items'] : undefined;
    for (const [index, item] of value.items.entries()) {
      // If a job is created while listing, older jobs move to the next page and would be listed twice.
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield { item, raw: Array.isArray(items) ? items[index] : item };
    }
    page = value.items.length === 0 ? undefined : value.nextPage;
  }
}

/**
 * Creates a page of a job list from the parsed response. Returns undefined if `items` is undefined. Ignores a next page
 * number that is not greater than the number of this page.
 */
export function jobPage<Job>(
  items: readonly Job[] | undefined,
  pagination: unknown,
  requested: number,
): JobPage<Job> | undefined {
  if (items === undefined) return undefined;
  const fields = firstRecord(pagination) ?? {};
  const page = firstNumber(fields['page']) ?? requested;
  const next = firstNumber(fields['nextPage']);
  const following = fields['hasMore'] === true ? page + 1 : undefined;
  return { items, page, nextPage: next !== undefined && next > page ? next : following };
}

function readListed(body: unknown): JobSummary | undefined {
  if (!isRecord(body)) return undefined;
  const id = firstId(body['taskId'], body['id']);
  const status = firstText(body['status']);
  if (id === undefined || status === undefined) return undefined;
  return {
    id,
    status,
    characters: firstNumber(body['characters']),
    textPreview: firstText(body['textPreview']) ?? '',
    voiceId: firstText(body['voiceId']) ?? '',
    modelId: firstText(body['modelId'], body['engineModelId']) ?? '',
    creditsUsed: jobCost(status, firstNumber(body['creditsUsed'])),
    createdAt: firstText(body['createdAt']) ?? '',
  };
}
