import { amountsIn } from '../billing/ledger.ts';
import type { WholeJob } from '../jobs/job-records.ts';
import { ServiceError } from '../service-error.ts';
import type { ServiceContext } from '../service-context.ts';
import { showText } from '../wording/show-value.ts';
import type { AccountCall } from './call.ts';

/**
 * The job that the path names, under whichever name.
 * @throws ServiceError 404 when there is none, or it is somebody else's (spec section 5)
 */
export function requireJob(
  { account, parameters }: AccountCall,
  { jobs }: ServiceContext,
): WholeJob {
  const jobId = parameters['jobId'] ?? parameters['taskId'] ?? '';
  const job = jobs.find(account, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `There is no job ${showText(jobId)}`);
}

/** What an answer about a job says of the account and of its charge (spec sections 2.4 and 2.5). */
export function accountState(call: AccountCall, { store }: ServiceContext, { credits }: WholeJob) {
  const { quota } = store.read((db) => amountsIn(db, call.account, 'available'));
  return { requestId: call.requestId, quotaRemaining: quota, creditsUsed: credits };
}
