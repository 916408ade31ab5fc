import type { AnswerHeaders } from './answer.ts';
import { firstText } from './create-answer.ts';
import { jobPhase } from './job-phase.ts';
import type { PolledJob } from './poll-job.ts';
import type { UnknownRecord } from './shape.ts';
import { isRecord } from './shape.ts';
import type { JobError } from './speech-job.ts';

/** The kinds of jobs that make pictures and videos, by the nouns of the command line. */
export const MEDIA_JOB_KINDS = ['lipsync', 'dub', 'image', 'video'] as const;
export type MediaJobKind = (typeof MEDIA_JOB_KINDS)[number];

/** What a lip sync is billed by (spec section 2.6); seconds. */
export interface LipSyncBilling {
  readonly billedSeconds: number;
  readonly videoSeconds: number | undefined;
  readonly audioSeconds: number | undefined;
  /** The service's own word, such as `shorter_input_rounded_up`. */
  readonly rule: string | undefined;
}

/** What is told of a lip sync, a dubbing, an image or a video (spec sections 2.6, 2.7 and 2.10). */
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
export interface MediaJobAnswer {
  readonly raw: unknown;
  readonly headers: AnswerHeaders;
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * The job in the answer to a create or a poll, whatever else is in it; `undefined` when it names none.
 * @param known the id, where it was asked for by it
 */
export function readMediaJob(
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
    creditsUsed: job.creditsUsed ?? numberIn(body, 'creditsUsed') ?? headers.creditsUsed,
    quotaRemaining: numberIn(body, 'quotaRemaining') ?? headers.quotaRemaining,
    retryAfterMs,
    raw,
  };
}

/** The same out of what a list tells of one job. */
export function readMediaData(
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
    creditsUsed: isRecord(credits) ? totalOf(credits) : numberOf(credits),
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
