import type { AudioFormat } from '../contract/audio-formats.ts';
import { AUDIO_FORMATS } from '../contract/audio-formats.ts';
import type { AnswerHeaders } from './answer.ts';
import { jobPhase } from './job-phase.ts';
import type { PolledJob } from './poll-job.ts';
import type { UnknownRecord } from './shape.ts';
import { isRecord, isStringArray } from './shape.ts';

/** The interfaces that have speech jobs (spec sections 4.1 and 4.3). */
export type JobApi = 'v3' | 'v1';

/** Which job is meant. */
export interface JobRef {
  readonly id: string;
  readonly api: JobApi;
}

/** What both interfaces tell of a speech job (spec sections 2.4 and 2.5). */
export interface SpeechJob extends JobRef, PolledJob {
  readonly requestId: string;
  /** Set aside while it runs, then what it cost. */
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

/** An answer that tells of a job. */
export interface JobAnswer {
  readonly raw: unknown;
  readonly headers: AnswerHeaders;
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * The job in the answer to a create or a poll, whatever else is in it; `undefined` when it names none.
 * @param known the id, where it was asked for by it
 */
export function readSpeechJob(
  api: JobApi,
  answer: JobAnswer,
  known?: string,
): SpeechJob | undefined {
  const { headers, raw, requestId, retryAfterMs } = answer;
  const body = isRecord(raw) ? raw : {};
  const task = firstRecord(body['task'], body['data'], body['job']) ?? body;
  const record = firstRecord(body['record']) ?? {};
  const id = firstText(task['taskId'], task['id'], record['id'], known, idOf(headers.location));
  const status = firstText(task['status'], record['status']) ?? statusOf(known, headers);
  if (id === undefined || status === undefined) return undefined;
  const ignored = body['ignoredParameters'] ?? task['ignoredParameters'];
  return {
    id,
    api,
    status,
    phase: jobPhase(status),
    retryAfterMs,
    requestId: firstText(body['requestId']) ?? requestId,
    creditsUsed: firstNumber(body['creditsUsed'], task['creditsUsed']) ?? headers.creditsUsed,
    quotaRemaining: firstNumber(body['quotaRemaining']) ?? headers.quotaRemaining,
    ignoredParameters: isStringArray(ignored) ? ignored : undefined,
    format: AUDIO_FORMATS.find((format) => format === task['format']),
    segments: segmentsOf(task['segments']),
    error: errorOf(task, body),
    raw,
  };
}

/** A job that was accepted with its place and nothing else has just begun. */
function statusOf(known: string | undefined, { location }: AnswerHeaders): string | undefined {
  return known === undefined && location !== undefined ? 'pending' : undefined;
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

function errorOf(task: UnknownRecord, body: UnknownRecord): JobError | undefined {
  const { errorCode, errorMessage } = task;
  const error = task['error'] ?? body['error'];
  const told = isRecord(error) ? error : { message: error };
  const code = firstText(told['code'], errorCode);
  const message = firstText(told['message'], errorMessage);
  return code === undefined && message === undefined ? undefined : { code, message };
}

function firstRecord(...values: readonly unknown[]): UnknownRecord | undefined {
  return values.find((value) => isRecord(value));
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number');
}
