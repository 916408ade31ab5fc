import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import { HEADERS } from '../../contract/values.ts';
import type { Job, JobKind, JobRecord } from '../jobs/job-records.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { showText } from '../http/validation.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { AccountCall } from './call.ts';

/** @throws ServiceError 404 when the account has no job of this kind with this id (docs/api/authentication.md) */
export function requireJob(
  { account }: AccountCall,
  { jobs }: Pick<ServiceContext, 'jobs'>,
  kind: JobKind,
  jobId: string,
): Job {
  const job = jobs.find(account, kind, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `No such job: ${showText(jobId)}`);
}

interface Price {
  readonly quotaRemaining: number;
  readonly creditsUsed: number;
}

/** Headers with what a request cost and the quota that is left (docs/api/README.md). */
export function priceHeaders({ quotaRemaining, creditsUsed }: Price): Record<string, string> {
  return {
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(creditsUsed),
  };
}

/** Returns the remaining quota of the account of a request. */
export function quotaOf(
  { account }: Pick<AccountCall, 'account'>,
  { store }: Pick<ServiceContext, 'store'>,
): number {
  return store.read((db) => amountsIn(db, account, 'available')).quota;
}

interface AcceptedJob extends Price {
  /** Path of the job. */
  readonly location: string;
  readonly poll: Readonly<Record<string, string>>;
}

/** Responds to a create of whatever kind: 202 with where the job is, when to poll it, and its price (docs/api/jobs.md#v3). */
export function acceptedResponse(
  body: unknown,
  { location, poll, ...price }: AcceptedJob,
): Response {
  const headers = { Location: location, ...poll, ...priceHeaders(price) };
  return Response.json(body, { status: 202, headers });
}

const LONGEST_RETRY_AFTER_SECONDS = 30;

/**
 * `Retry-After` of a job of any kind: the expected time left in whole seconds, rounded up, 0 under half a second; nothing
 * for a job that has ended (docs/api/jobs.md#v3). A job that is late waits for others: it is expected to take half as
 * long again as it has taken.
 */
export function pollHeaders(
  { createdAt, finishedAt }: Pick<JobRecord, 'createdAt' | 'finishedAt'>,
  expectedSeconds: number,
  { clock }: Pick<ServiceContext, 'clock'>,
): Record<string, string> {
  if (finishedAt !== undefined) return {};
  const left = Math.max(expectedSeconds, (clock.now() - createdAt) / 2_000);
  const seconds = left < 0.5 ? 0 : Math.ceil(Math.min(left, LONGEST_RETRY_AFTER_SECONDS));
  return { 'Retry-After': String(seconds) };
}

interface PageQuery {
  readonly page?: number;
  readonly limit?: number;
}

/** Returns the range of a page, with one more item that shows whether another page follows. */
export function rangeOf({ page = 1, limit = PAGE_SIZE_DEFAULT }: PageQuery) {
  const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
  return { limit: limit + 1, offset };
}

/** Returns a page of a list. @param items the items of `rangeOf` */
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
