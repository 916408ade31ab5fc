import { HEADERS } from '../../contract/headers.ts';
import type { JobStatus } from '../../contract/schemas/job.ts';
import { isTerminal } from '../jobs/lifecycle.ts';
import type { JobRecord, SegmentRecord, WholeJob } from '../jobs/job-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { speechFailureMessage } from '../service-error.ts';

/** What v1 and v3 tell of a job in the same words (spec section 2.4). */
export function listItem(job: JobRecord, audioUrl: (taskId: string) => string) {
  return {
    taskId: job.id,
    status: job.status,
    characters: job.characters,
    textPreview: job.textPreview,
    textFingerprint: job.textFingerprint,
    voiceId: job.voiceId,
    creditsUsed: job.credits,
    createdAt: new Date(job.createdAt).toISOString(),
    audioUrl: hasAudio(job.status) ? audioUrl(job.id) : null,
  };
}

/** Whether there is audio of the whole (spec section 3.1). */
export function hasAudio(status: JobStatus): boolean {
  return status === 'success' || status === 'partial_fail';
}

/** Whether a segment can be heard: also before its job has ended, but not of one that was refunded. */
export function hasSegmentAudio(job: WholeJob, segment: SegmentRecord): boolean {
  return segment.status === 'success' && job.status !== 'fail';
}

/** How long segments play, those that were not spoken not at all. */
export function durationMs(segments: readonly SegmentRecord[]): number {
  const seconds = segments.reduce(
    (sum, { samples = 0, sampleRate = 1 }) => sum + samples / sampleRate,
    0,
  );
  return Math.round(seconds * 1_000);
}

/** Why a job failed; `undefined` while it has not. */
export function jobError({ failure, status, segments }: WholeJob) {
  if (status !== 'fail') return undefined;
  return segments.every((segment) => segment.status === 'skipped')
    ? { code: 'ERR_INVALID_REQUEST', message: 'text has nothing that this voice can say' }
    : { code: 'ERR_GENERATION_FAILED', message: speechFailureMessage(failure) };
}

/** Characters that are spoken in a second, about; the engine and the machine decide. */
const CHARACTERS_PER_SECOND = 1_500;

/** `Retry-After` of a job: the expected time left; nothing for a job that has ended (spec section 4.1). */
export function pollHeaders(
  { createdAt, segments, status }: WholeJob,
  { clock }: Pick<ServiceContext, 'clock'>,
): Record<string, string> {
  if (isTerminal(status)) return {};
  const left = segments
    .filter((segment) => segment.status === 'pending')
    .reduce((sum, { characters }) => sum + characters, 0);
  return retryAfter(left / CHARACTERS_PER_SECOND, clock.now() - createdAt);
}

const LONGEST_RETRY_AFTER_SECONDS = 30;

/**
 * `Retry-After` in whole seconds, rounded up; 0 under half a second. A job that is late waits for others: it is
 * expected to take half as long again as it has taken.
 */
export function retryAfter(expectedSeconds: number, ageMs: number): Record<string, string> {
  const left = Math.max(expectedSeconds, ageMs / 2_000);
  const seconds = left < 0.5 ? 0 : Math.ceil(Math.min(left, LONGEST_RETRY_AFTER_SECONDS));
  return { 'Retry-After': String(seconds) };
}

/**
 * Headers of a create: where the job is, when to ask for it, and, as with speech, what it costs and what is
 * left (spec section 4.1).
 */
export function createdHeaders(
  job: WholeJob,
  context: Pick<ServiceContext, 'clock'>,
  { location, quotaRemaining }: { readonly location: string; readonly quotaRemaining: number },
): Record<string, string> {
  return {
    Location: location,
    ...pollHeaders(job, context),
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(job.credits),
  };
}

/** A page of a list that is asked for one item longer, so that the last page is known as such. */
export function pageOf<Item>(
  items: readonly Item[],
  { page, limit }: { readonly page: number; readonly limit: number },
) {
  const hasMore = items.length > limit;
  return {
    items: items.slice(0, limit),
    pagination: { page, limit, hasMore, nextPage: hasMore ? page + 1 : null },
  };
}

/** What is skipped before a page; a page that nobody could reach is empty too. */
export function offsetOf({
  page,
  limit,
}: {
  readonly page: number;
  readonly limit: number;
}): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
}
