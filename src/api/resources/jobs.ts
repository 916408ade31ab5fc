import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import { chargeOf } from '../../contract/charges.ts';
import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { Failure } from '../../errors/failure.ts';
import { audioAnswer, answeredUrl } from '../audio-response.ts';
import type { AudioAnswer } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { readBilledJson, readJson } from '../client.ts';
import type { AskForFile } from '../download.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { charged } from '../failures.ts';
import { isModelAvailable } from './models.ts';
import type { PollPace, PollCall, PollDeps, PolledJob } from '../poll.ts';
import { POLL_FLOOR_MS, POLL_FLOOR_V1_MS, pollJob, jobCost, jobPhase } from '../poll.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { BilledOptions, RequestBody, RequestSpec } from '../request.ts';
import type { UnknownRecord, JsonAnswer } from '../response.ts';
import {
  badAnswer,
  firstNumber,
  firstRecord,
  firstText,
  isRecord,
  isStringArray,
} from '../response.ts';
import type { SpeechOrder } from './speech.ts';
import { speechBody } from './speech.ts';

export interface JobOptions extends BilledOptions {
  /** Default v3. */
  readonly api?: JobApi | undefined;
}

/** What a speech job is created with, byte for byte. */
export function speechJobBody(order: SpeechOrder, api: JobApi = 'v3'): RequestBody {
  return jsonBody(speechBody(order, SPEECH_SURFACES[api]));
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
    body: speechJobBody(order, api),
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
 * Has a text spoken in the background (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). The same order under the same key is
 * answered with the same job and never billed twice.
 * @throws Failure; one whose answer names no job may have been billed
 */
export async function createSpeechJob(
  client: ApiClient,
  order: SpeechOrder,
  options: JobOptions,
): Promise<SpeechJob> {
  return sendSpeechJob(client, options.api ?? 'v3', speechJobRequest(client, order, options));
}

/** The same with a request that is put together already. @throws Failure */
export async function sendSpeechJob(
  client: ApiClient,
  api: JobApi,
  request: RequestSpec,
): Promise<SpeechJob> {
  const answer = await client.send(request);
  // A Location header alone names the job too, whatever the body is.
  const raw = await readBilledJson(answer).catch((error: unknown) => {
    if (answer.headers.location === undefined) throw error;
  });
  const job = readSpeechJob(api, { ...answer, raw });
  if (job === undefined) throw charged(badAnswer('the answer names no job', answer));
  return job;
}

/**
 * A job as it is now (docs/api/jobs.md#v3 and docs/api/jobs.md#v1).
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
 * How often a service may be asked about its speech jobs (docs/api/limits.md: every 3 to 5 seconds in v1).
 * @param intervalMs `--poll-interval`, in milliseconds
 */
export function pollPace(client: ApiClient, api: JobApi, intervalMs?: number): PollPace {
  const isSlow = api === 'v1' && client.address.kind === 'hosted';
  return { floorMs: isSlow ? POLL_FLOOR_V1_MS : POLL_FLOOR_MS, intervalMs };
}

/** The interfaces that have speech jobs (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export type JobApi = 'v3' | 'v1';

/** Which job is meant. */
export interface JobRef {
  readonly id: string;
  readonly api: JobApi;
}

/** What both interfaces tell of a speech job (docs/api/jobs.md#v1 and docs/api/jobs.md#v3). */
export interface SpeechJob extends JobRef, PolledJob {
  readonly requestId: string;
  /** Set aside while it runs, then what it cost: 0 when it failed. */
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** Controls that are not applied; `undefined` where the interface does not tell. */
  readonly ignoredParameters: readonly string[] | undefined;
  readonly format: AudioFormat | undefined;
  readonly segments: readonly SpeechJobSegment[];
  /** Why it failed, where the service says so. */
  readonly error: JobError | undefined;
  /** The whole answer. */
  readonly raw: unknown;
}

/** A stretch of the text that is spoken by itself. */
export interface SpeechJobSegment {
  /** From 0. */
  readonly index: number;
  readonly status: string | undefined;
  /** Where its audio is, as the service wrote it. */
  readonly audioUrl: string | undefined;
}

export interface JobError {
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/**
 * The job in the answer to a create or a poll, whatever else is in it; `undefined` when it names none.
 * @param known the id, where it was asked for by it
 */
export function readSpeechJob(
  api: JobApi,
  answer: Omit<JsonAnswer<unknown>, 'status' | 'value'>,
  known?: string,
): SpeechJob | undefined {
  const { headers, raw, requestId, retryAfterMs } = answer;
  const body = firstRecord(raw) ?? {};
  const task = firstRecord(body['task'], body['data'], body['job']) ?? body;
  const record = firstRecord(body['record']) ?? {};
  const id = firstText(task['taskId'], task['id'], record['id'], known, idOf(headers.location));
  // A create that returns only a Location header has just begun.
  const isNew = known === undefined && headers.location !== undefined;
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

/** The id in the address of a job (`Location` of a create). */
function idOf(location: string | undefined): string | undefined {
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

/** Reads why a job failed; undefined if the service does not say. */
export function readJobError(job: UnknownRecord, error = job['error']): JobError | undefined {
  const fields = isRecord(error) ? error : { message: error };
  const code = firstText(fields['code'], job['error_code'], job['errorCode']);
  const message = firstText(fields['message'], job['error_message'], job['errorMessage']);
  return code === undefined && message === undefined ? undefined : { code, message };
}

/**
 * The audio of a job that has ended (docs/api/jobs.md#v3 and docs/api/jobs.md#v1): the key stays on the service's origin
 * and is not sent on to the store that it may redirect to. It costs nothing, and can be had again.
 * @throws Failure
 */
export async function fetchJobAudio(
  client: ApiClient,
  { api, id }: JobRef,
  signal?: AbortSignal,
): Promise<AudioAnswer> {
  const { target } =
    api === 'v3'
      ? endpoint('getJobAudio', { jobId: id })
      : endpoint('getTaskAudio', { taskId: id });
  return getAudio(client, target, signal);
}

/**
 * The audio of one segment of a job, which may be there before the job has ended. v1 tells only in the
 * job itself where it is.
 * @param index from 0
 * @throws Failure (rejected) when the job has no such segment with audio
 */
export async function fetchSegmentAudio(
  client: ApiClient,
  ref: JobRef,
  index: number,
  signal?: AbortSignal,
): Promise<AudioAnswer> {
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
  const url = answeredUrl(client, address);
  if (url !== undefined) return url;
  throw new Failure(`job ${ref.id} has no audio of a segment ${index} (its status is ${status})`, {
    code: 'ERR_AUDIO_NOT_FOUND',
    exit: 'rejected',
    hint: 'Segments are numbered from 0; in v1 they are there once the job has ended.',
    requestId,
  });
}

/** @param place a path of the service, or what looks up a fresh link */
async function getAudio(
  client: ApiClient,
  place: string | (() => Promise<URL>),
  signal: AbortSignal | undefined,
): Promise<AudioAnswer> {
  const request = { ...FILE_REQUEST, accept: 'audio/*, application/json', signal };
  const ask: AskForFile = async (headers) => {
    const target = typeof place === 'string' ? place : await place();
    const answer = await client.send({ ...request, target, headers });
    if (answer.headers.contentType !== 'application/json') return answer;
    // What a segment answers is not described: it may be where the audio is.
    const url = answeredUrl(client, addressIn(await readJson(answer)));
    if (url !== undefined)
      return client.send({ ...request, accept: 'audio/*', target: url, headers });
    throw badAnswer('the answer has neither audio nor its address in it', answer);
  };
  const answer = await download(client, ask, signal);
  // The download reports credits that are not the cost of the job.
  return { ...(await audioAnswer(client, answer, { isOpaqueFine: true })), creditsUsed: undefined };
}

function addressIn(body: unknown): unknown {
  const outer = firstRecord(body) ?? {};
  const fields = firstRecord(outer['segment'], outer['data']) ?? outer;
  return fields['audioUrl'] ?? fields['playbackUrl'] ?? fields['downloadUrl'] ?? fields['url'];
}

/** Which jobs are asked for (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export interface JobQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
  /** ISO 8601; v1 only. */
  readonly createdAfter?: string | undefined;
}

/** What a list tells of a job, in the words of both interfaces (docs/api/jobs.md#v1). */
export interface ListedJob {
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
  /** `undefined` on the last page. */
  readonly nextPage: number | undefined;
}

/** One page of the jobs of the account, the newest first. */
export function listSpeechJobs(
  client: ApiClient,
  api: JobApi,
  query: JobQuery,
  signal?: AbortSignal,
): Promise<JsonAnswer<JobPage<ListedJob>>> {
  const call = endpoint(api === 'v3' ? 'listJobs' : 'listJobsV1');
  const spec = { ...call, query: { ...query }, billed: false, retry: 'safe', signal } as const;
  return client.json(spec, (body) => readJobPage(body, query.page ?? 1));
}

/** Lists every job that matches, page after page, with the JSON of each. */
export function allSpeechJobs(
  client: ApiClient,
  api: JobApi,
  query: Omit<JobQuery, 'limit' | 'page'>,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly item: ListedJob; readonly raw: unknown }, void, undefined> {
  return allJobs((page) =>
    listSpeechJobs(client, api, { ...query, page, limit: PAGE_SIZE_MAX }, signal),
  );
}

/** Lists the jobs of every page. */
export async function* allJobs<Job extends { readonly id: string }>(
  list: (page: number) => Promise<JsonAnswer<JobPage<Job>>>,
): AsyncGenerator<{ readonly item: Job; readonly raw: unknown }, void, undefined> {
  const seen = new Set<string>();
  for (let page: number | undefined = 1; page !== undefined;) {
    const { raw, value } = await list(page);
    const items: unknown = isRecord(raw) ? raw['items'] : undefined;
    for (const [index, item] of value.items.entries()) {
      // A job created in the meantime moves the others by one place.
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield { item, raw: Array.isArray(items) ? items[index] : item };
    }
    page = value.items.length === 0 ? undefined : value.nextPage;
  }
}

function readJobPage(body: unknown, requested: number): JobPage<ListedJob> | undefined {
  if (!isRecord(body) || !Array.isArray(body['items'])) return undefined;
  return jobPage(body['items'].map(readListed), body['pagination'], requested);
}

/** Returns a page, or undefined if an item could not be read. The next page is always a later one. */
export function jobPage<Job>(
  items: readonly (Job | undefined)[],
  pagination: unknown,
  requested: number,
): JobPage<Job> | undefined {
  if (!items.every((item) => item !== undefined)) return undefined;
  const fields = firstRecord(pagination) ?? {};
  const page = firstNumber(fields['page']) ?? requested;
  const next = firstNumber(fields['nextPage']);
  const following = fields['hasMore'] === true ? page + 1 : undefined;
  return { items, page, nextPage: next !== undefined && next > page ? next : following };
}

function readListed(body: unknown): ListedJob | undefined {
  if (!isRecord(body)) return undefined;
  const id = firstText(body['taskId'], body['id']);
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
