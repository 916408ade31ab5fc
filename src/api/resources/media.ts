import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { Failure } from '../../errors/failure.ts';
import { answeredUrl, notEmpty } from '../audio-response.ts';
import type { FileAnswer } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import type { AskForFile } from '../download.ts';
import { download, FILE_REQUEST } from '../download.ts';
import type { PollPace, PollCall, PolledJob } from '../poll.ts';
import { POLL_FLOOR_MS, jobCost, jobPhase } from '../poll.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { IdempotencyKey, RequestSpec } from '../request.ts';
import type { Answer, AnswerHeaders, UnknownRecord, JsonAnswer } from '../response.ts';
import { badAnswer, isRecord } from '../response.ts';
import type { AttemptOutcome } from '../retry.ts';
import { namesNothing, readCreateAnswer, firstText } from './create.ts';
import type { JobError } from './jobs.ts';
import { pageAfter } from './jobs.ts';
import { missingCapability } from './models.ts';
import type { MediaJobKind } from './models.ts';

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

/** Whether a create of this kind is recognized when it is sent again. */
function isKeyed(kind: MediaJobKind): boolean {
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

/** An answer that tells of a job. */
interface MediaJobAnswer {
  readonly raw: unknown;
  readonly headers: AnswerHeaders;
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * The job in the answer to a create or a poll, whatever else is in it; `undefined` when it names none.
 * @param known the id, where it was asked for by it
 */
function readMediaJob(
  kind: MediaJobKind,
  { headers, raw, requestId, retryAfterMs }: MediaJobAnswer,
  known?: string,
): MediaJob | undefined {
  const body = isRecord(raw) ? raw : {};
  const data = [body['data'], body['job'], body['task']].find((value) => isRecord(value)) ?? body;
  const job = readMediaData(kind, isRecord(data) ? data : {}, known);
  if (job === undefined) return undefined;
  return {
    ...job,
    requestId: firstText(body['requestId']) ?? requestId,
    creditsUsed:
      job.creditsUsed ?? jobCost(job.status, numberIn(body, 'creditsUsed') ?? headers.creditsUsed),
    quotaRemaining: numberIn(body, 'quotaRemaining') ?? headers.quotaRemaining,
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
    creditsUsed: isRecord(credits) ? totalOf(credits) : jobCost(status, numberOf(credits)),
    creditsByPart: isRecord(credits) ? partsOf(credits) : undefined,
    billing: billingOf(data),
    resultUrl: resultOf(data),
    error: errorOf(data),
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
  const result = isRecord(data['result']) ? data['result'] : {};
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
  const billedSeconds = numberIn(data, 'billing_duration_seconds');
  if (billedSeconds === undefined) return undefined;
  return {
    billedSeconds,
    videoSeconds: numberIn(data, 'video_duration_seconds'),
    audioSeconds: numberIn(data, 'audio_duration_seconds'),
    rule: firstText(data['billing_rule']),
  };
}

function errorOf(data: UnknownRecord): JobError | undefined {
  const error = data['error'];
  const told = isRecord(error) ? error : { message: error };
  const code = firstText(told['code'], data['error_code'], data['errorCode']);
  const message = firstText(told['message'], data['error_message'], data['errorMessage']);
  return code === undefined && message === undefined ? undefined : { code, message };
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
  return numberIn(credits, 'total') ?? sum;
}

function percent(value: unknown): number | undefined {
  const given = numberOf(value);
  return given === undefined ? undefined : Math.max(0, Math.min(100, given));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function numberIn(record: UnknownRecord, field: string): number | undefined {
  return numberOf(record[field]);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
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

interface LipSyncPage {
  readonly items: readonly MediaJob[];
  readonly page: number;
  /** `undefined` on the last page. */
  readonly nextPage: number | undefined;
}

/** One page of the lip-sync jobs of the account (docs/api/lip-sync.md). */
export function listLipSync(
  client: ApiClient,
  query: LipSyncQuery,
  signal?: AbortSignal,
): Promise<JsonAnswer<LipSyncPage>> {
  const call = endpoint('listLipSync');
  const spec = { ...call, query: { ...query }, billed: false, retry: 'safe', signal } as const;
  return client.json(spec, (body) => readLipSyncPage(body, query.page ?? 1));
}

/** Every lip-sync job that fits, page after page. */
export async function* allLipSync(
  client: ApiClient,
  { status }: Pick<LipSyncQuery, 'status'>,
  signal?: AbortSignal,
): AsyncGenerator<MediaJob, void, undefined> {
  const seen = new Set<string>();
  for (let page: number | undefined = 1; page !== undefined;) {
    const { value } = await listLipSync(client, { status, page, limit: PAGE_SIZE_MAX }, signal);
    for (const job of value.items) {
      // A job that is created meanwhile moves the others one place further.
      if (!seen.has(job.id)) yield job;
      seen.add(job.id);
    }
    page = value.items.length === 0 ? undefined : value.nextPage;
  }
}

function readLipSyncPage(body: unknown, asked: number): LipSyncPage | undefined {
  if (!isRecord(body)) return undefined;
  const place = isRecord(body['data']) ? body['data'] : body;
  const given = [place['items'], place['jobs'], body['data']].find((list) => Array.isArray(list));
  if (!Array.isArray(given)) return undefined;
  const items = given.map((item) => (isRecord(item) ? readMediaData('lipsync', item) : undefined));
  if (!items.every((item) => item !== undefined)) return undefined;
  const told = place['pagination'] ?? body['pagination'];
  const { hasMore, nextPage, page } = isRecord(told) ? told : {};
  const current = typeof page === 'number' ? page : asked;
  return { items, page: current, nextPage: pageAfter(current, nextPage, hasMore) };
}
