import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { Failure } from '../../errors/failure.ts';
import { answeredUrl, notEmpty } from '../audio-response.ts';
import type { FileAnswer } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { readCreateAnswer } from '../client.ts';
import type { AskForFile } from '../download.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { charged } from '../failures.ts';
import type { PollPace, PollCall, PolledJob } from '../poll.ts';
import { POLL_FLOOR_MS, jobCost, jobPhase } from '../poll.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { BilledOptions, RequestSpec } from '../request.ts';
import type { Answer, UnknownRecord, JsonAnswer } from '../response.ts';
import { badAnswer, firstNumber, firstRecord, firstText, isRecord } from '../response.ts';
import type { JobError, JobPage } from './jobs.ts';
import { allJobs, jobPage, readJobError } from './jobs.ts';
import { missingCapability } from './models.ts';
import type { MediaJobKind } from './models.ts';

/** What is asked for, by the fields of the spec's sections 4.7 and 4.8; what is undefined is not sent. */
export type MediaOrder = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/**
 * The key is sent if there is one. No document says that lip sync honours it, so foley never repeats a
 * lip sync by itself.
 */
export interface MediaOptions extends Omit<BilledOptions, 'idempotencyKey'> {
  readonly idempotencyKey: BilledOptions['idempotencyKey'] | undefined;
  /** Called before each retry. */
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
  return kind === 'lipsync'
    ? { ...request, retry: 'never', lookAt: LOOK_AT }
    : { ...request, retry: 'keyed', onNewKey };
}

const LOOK_AT =
  '`foley lipsync list` shows whether the job was created; look before you create it again.';

/**
 * Orders a lip sync, a dubbing, an image or a video (docs/api/lip-sync.md and docs/api/media.md).
 * @throws Failure; one whose answer names no job may have been billed
 */
export async function createMediaJob(
  client: ApiClient,
  kind: MediaJobKind,
  order: MediaOrder,
  options: MediaOptions,
): Promise<MediaJob> {
  return sendMediaJob(client, kind, mediaJobRequest(kind, order, options));
}

/** The same with a request that is put together already. @throws Failure */
export async function sendMediaJob(
  client: ApiClient,
  kind: MediaJobKind,
  request: RequestSpec,
): Promise<MediaJob> {
  const answer = await client.send(request).catch(async (error: unknown) => {
    throw await missingCapability(client, error, kind, request);
  });
  const { raw } = await readCreateAnswer(answer, []);
  const job = readMediaJob(kind, { ...answer, raw });
  if (job === undefined) throw charged(badAnswer('the answer names no job', answer));
  return job;
}

/**
 * A job as it is now (docs/api/lip-sync.md and docs/api/media.md).
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

/** What a lip sync is billed by (docs/api/lip-sync.md); seconds. */
export interface LipSyncBilling {
  readonly billedSeconds: number;
  readonly videoSeconds: number | undefined;
  readonly audioSeconds: number | undefined;
  /** The service's own word, such as `shorter_input_rounded_up`. */
  readonly rule: string | undefined;
}

/** What is told of a lip sync, a dubbing, an image or a video (docs/api/lip-sync.md, docs/api/lip-sync.md#dubbing and docs/api/media.md#jobs). */
export interface MediaJob extends PolledJob {
  readonly kind: MediaJobKind;
  readonly requestId: string;
  /** Percent that is done, where the service tells. */
  readonly progress: number | undefined;
  /** Set aside while it runs, then what it cost. */
  readonly creditsUsed: number | undefined;
  /** The parts of that, of a dubbing. */
  readonly creditsByPart: Readonly<Record<string, number>> | undefined;
  readonly quotaRemaining: number | undefined;
  readonly billing: LipSyncBilling | undefined;
  /** Where what it made is, as the service wrote it. */
  readonly resultUrl: string | undefined;
  /** Why it failed, where the service says so. */
  readonly error: JobError | undefined;
  /** What it made is not, or lacks. */
  readonly notices: readonly string[];
  /** What the service tells of it. */
  readonly data: UnknownRecord;
  /** The whole answer. */
  readonly raw: unknown;
}

/**
 * The job in the answer to a create or a poll, whatever else is in it; `undefined` when it names none.
 * @param known the id, where it was asked for by it
 */
function readMediaJob(
  kind: MediaJobKind,
  { headers, raw, requestId, retryAfterMs }: Omit<JsonAnswer<unknown>, 'status' | 'value'>,
  known?: string,
): MediaJob | undefined {
  const body = firstRecord(raw) ?? {};
  const data = firstRecord(body['data'], body['job'], body['task']) ?? body;
  const job = readMediaData(kind, data, known);
  if (job === undefined) return undefined;
  return {
    ...job,
    requestId: firstText(body['requestId']) ?? requestId,
    creditsUsed:
      job.creditsUsed ??
      jobCost(job.status, firstNumber(body['creditsUsed']) ?? headers.creditsUsed),
    quotaRemaining: firstNumber(body['quotaRemaining']) ?? headers.quotaRemaining,
    retryAfterMs,
    raw,
  };
}

/** The same out of what a list tells of one job. */
function readMediaData(
  kind: MediaJobKind,
  data: UnknownRecord,
  known?: string,
): MediaJob | undefined {
  const id = firstText(data['id'], data['task_id'], data['taskId'], data['job_id'], known);
  const status = firstText(data['status']);
  if (id === undefined || status === undefined) return undefined;
  const credits = data['credits_used'] ?? data['creditsUsed'];
  return {
    id,
    kind,
    status,
    phase: jobPhase(status),
    progress: percent(data['progress']),
    // The speech of a failed dubbing may stay charged: its parts tell.
    creditsUsed: isRecord(credits) ? totalOf(credits) : jobCost(status, firstNumber(credits)),
    creditsByPart: isRecord(credits) ? partsOf(credits) : undefined,
    billing: billingOf(data),
    resultUrl: resultOf(data),
    error: readJobError(data),
    notices: textsOf(data['notices']),
    data,
    requestId: '',
    quotaRemaining: undefined,
    retryAfterMs: undefined,
    raw: data,
  };
}

/** Names that no request has: what was sent in may be told again beside what was made. */
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

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

/**
 * What a job made, from where it says that it is (docs/api/lip-sync.md, docs/api/lip-sync.md#dubbing and docs/api/media.md#jobs): with the key on the
 * service's own origin, without it elsewhere. It costs nothing, and can be had again.
 * @throws Failure: rejected for a job that has nothing yet, bad_answer for one that names no place
 */
export async function fetchMediaResult(
  client: ApiClient,
  job: MediaJob,
  signal?: AbortSignal,
): Promise<FileAnswer> {
  if (job.phase === 'running') throw notYet(job);
  const target = answeredUrl(client, job.resultUrl);
  if (target === undefined) {
    throw badAnswer(`job ${job.id} is ${job.status}, but names no place where its result is`, {
      requestId: job.requestId,
    });
  }
  return fetchFile(client, signal, async (headers, isAgain) => {
    const { resultUrl } = isAgain ? await getMediaJob(client, job.kind, job.id, { signal }) : job;
    const url = answeredUrl(client, resultUrl) ?? target;
    return client.send({ ...MEDIA_REQUEST, target: url, headers, signal });
  });
}

/**
 * A file of the service, or of where it stores files.
 * @throws Failure
 */
export async function fetchMediaFile(
  client: ApiClient,
  target: URL,
  signal?: AbortSignal,
): Promise<FileAnswer> {
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
): Promise<FileAnswer> {
  return { ...fileAnswer(await download(client, ask, signal)), maxBytes: client.maxBytes };
}

function notYet({ id, kind, requestId, status }: MediaJob): Failure {
  return new Failure(`job ${id} has made nothing yet (its status is ${status})`, {
    code: 'ERR_MEDIA_NOT_FOUND',
    exit: 'rejected',
    hint: `\`foley ${kind} wait ${id} -o …\` waits for it.`,
    requestId,
  });
}

function fileAnswer(answer: Answer): FileAnswer {
  const { contentLength, framing, headers, requestId, status } = answer;
  if (status !== 200 || contentLength === 0) {
    answer.discard();
    throw badAnswer(`the answer (${status}) has no file in it`, answer);
  }
  return {
    body: { [Symbol.asyncIterator]: () => notEmpty(answer) },
    contentType: headers.get('content-type') ?? '',
    contentLength,
    pcm: undefined,
    framing,
    requestId,
    // What a download says of credits is not what the job cost.
    creditsUsed: undefined,
    discard: () => answer.discard(),
  };
}

/** Which lip-sync jobs are asked for (docs/api/lip-sync.md). */
interface LipSyncQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
}

/** One page of the lip-sync jobs of the account (docs/api/lip-sync.md). */
export function listLipSync(
  client: ApiClient,
  query: LipSyncQuery,
  signal?: AbortSignal,
): Promise<JsonAnswer<JobPage<MediaJob>>> {
  const call = endpoint('listLipSync');
  const spec = { ...call, query: { ...query }, billed: false, retry: 'safe', signal } as const;
  return client.json(spec, (body) => readLipSyncPage(body, query.page ?? 1));
}

/** Lists every lip-sync job that matches, page after page. */
export async function* allLipSync(
  client: ApiClient,
  { status }: Pick<LipSyncQuery, 'status'>,
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
  if (!Array.isArray(list)) return undefined;
  const items = list.map((item) => (isRecord(item) ? readMediaData('lipsync', item) : undefined));
  return jobPage(items, data['pagination'] ?? body['pagination'], requested);
}
