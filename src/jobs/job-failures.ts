import { reviseFailure } from '../api/revise-failure.ts';
import { Failure } from '../errors/failure.ts';
import { counted } from '../text/counted.ts';
import type { WaitedJob } from './job-source.ts';

/** A job that ended without what it was to make (exit 20); the service gives back what was set aside for it. */
export function failedJob({ error, id, requestId, status }: WaitedJob): Failure {
  const why = error?.message ?? error?.code;
  return new Failure(`job ${id} ended with ${status}${why === undefined ? '' : `: ${why}`}`, {
    code: error?.code ?? status,
    exit: 'rejected',
    hint: 'It is refunded and is not made again by itself: create a new job, under another key.',
    requestId,
    details: { jobId: id, status },
  });
}

/**
 * What went wrong after a job was accepted: it is paid for, and there to be asked for again.
 * @param job as it was last heard of
 * @param resume what the person types to go on
 */
export function afterAcceptance(
  failure: Failure,
  job: Pick<WaitedJob, 'phase'>,
  resume: string,
): Failure {
  const { exit, hint } = failure;
  const next =
    exit === 'deadline' || exit === 'output' || exit === 'exists' || hint === undefined
      ? undefined
      : hint;
  // What was wrong with the command can only be the name of its output.
  const goesOn = exit === 'usage' ? 'goes on with it under such a name' : 'goes on with it';
  const hints = [next, isFinal(failure, job) ? undefined : `\`${resume}\` ${goesOn}.`];
  return reviseFailure(failure, {
    billed: 'yes',
    hint: hints.filter((one) => one !== undefined).join(' '),
  });
}

/** The same command would end in the same way; of a job that still runs there may be more later. */
function isFinal({ exit }: Failure, { phase }: Pick<WaitedJob, 'phase'>): boolean {
  return exit === 'lost' || (exit === 'rejected' && phase !== 'running');
}

/**
 * A job that ended well and of which the service does not have what it made (exit 27).
 * @param what it is, such as `audio`
 */
export function goneFile(failure: Failure, { creditsUsed, id }: WaitedJob, what: string): Failure {
  const cost = creditsUsed === undefined ? '' : ` and cost ${counted(creditsUsed, 'credit')}`;
  return reviseFailure(failure, {
    message: `job ${id} is done${cost}, but its ${what} is not there any more: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: 'A new job, under another key, is paid for again.',
  });
}
