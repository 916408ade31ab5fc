import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';
import { formatRanges } from '../../contract/unspoken.ts';
import { HEADERS } from '../../contract/values.ts';
import type { Clock } from '../../system/clock.ts';
import type { StoredJob, JobKind, JobProgress } from '../jobs/job-records.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { showText } from '../http/validation.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { AccountCall } from './call.ts';

/**
 * Returns the job with the id `jobId` that belongs to the account.
 * @throws ServiceError 404 if there is none
 */
export function requireJob(
  { account }: AccountCall,
  { jobs }: ServiceContext,
  kind: JobKind,
  jobId: string,
): StoredJob {
  const job = jobs.find(account, kind, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `No such job: ${showText(jobId)}`);
}

interface Price {
  readonly quotaRemaining: number;
  readonly creditsUsed: number;
}

/** Returns the headers that state the cost of a request and the remaining quota (docs/api/README.md). */
export function priceHeaders({ quotaRemaining, creditsUsed }: Price): Record<string, string> {
  return {
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(creditsUsed),
  };
}

/**
 * Returns the header that lists the parts of the text that the voice left out. Without such parts, returns no header.
 */
export function unspokenHeader(unspoken: readonly CodePointRange[]): Record<string, string> {
  return unspoken.length === 0 ? {} : { [HEADERS.unspoken]: formatRanges(unspoken) };
}

/** Returns the remaining quota of the account that sent the request. */
export function quotaOf({ account }: AccountCall, { store }: ServiceContext): number {
  return store.read((db) => amountsIn(db, account, 'available')).quota;
}

interface AcceptedJob extends Price {
  readonly location: string;
  readonly poll: Readonly<Record<string, string>>;
}

/** Returns the 202 response for an accepted job: its URL, when to poll it, and the price (docs/api/jobs.md#v3). */
export function acceptedResponse(body: unknown, accepted: AcceptedJob): Response {
  const { location, poll } = accepted;
  const headers = { Location: location, ...poll, ...priceHeaders(accepted) };
  return Response.json(body, { status: 202, headers });
}

const LONGEST_RETRY_AFTER_SECONDS = 30;
// A client that polls when this share of a job's age has passed waits at most so much longer than the job takes.
const AGE_SHARE = 0.02;

/**
 * Returns the header `Retry-After`: the number of seconds until the client should poll an unfinished job again
 * (docs/api/jobs.md#v3). The number is `expectedSeconds` or a fiftieth of the job's age, whichever is longer, but at most 30.
 * A finished job has no such header.
 */
export function pollHeaders(
  { createdAt, finishedAt }: JobProgress,
  expectedSeconds: number,
  clock: Clock,
): Record<string, string> {
  if (finishedAt !== undefined) return {};
  const left = Math.max(expectedSeconds, ((clock.now() - createdAt) / 1_000) * AGE_SHARE);
  const seconds = left < 0.5 ? 0 : Math.ceil(Math.min(left, LONGEST_RETRY_AFTER_SECONDS));
  return { 'Retry-After': String(seconds) };
}

interface PageQuery {
  readonly page?: number;
  readonly limit?: number;
}

/**
 * Returns offset and limit for the database query of a page. The limit is one more than the page size: an additional
 * row shows that there is a next page.
 */
export function rangeOf({ page = 1, limit = PAGE_SIZE_DEFAULT }: PageQuery) {
  const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
  return { limit: limit + 1, offset };
}

/**
 * Returns one page of a list.
 * @param items rows of the database query with the offset and limit of `rangeOf`
 */
export function pageOf<Item>(
  items: readonly Item[],
  { page = 1, limit = PAGE_SIZE_DEFAULT }: PageQuery,
) {
  const hasMore = items.length > limit;
  return {
    items: items.slice(0, limit),
    pagination: { page, limit, hasMore, nextPage: hasMore ? page + 1 : null },
  };
}
