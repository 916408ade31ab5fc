import type { FailureOptions } from '../../errors/failure.ts';
import { Failure } from '../../errors/failure.ts';
import { counted } from '../../text/counted.ts';
import type { ItemStatus } from '../journal/records.ts';
import type { Ended } from './decide.ts';

/** Why an item that came to an end is not delivered, and what the person can do. */
export function endedFailure(why: Ended, status: ItemStatus): Failure {
  const { jobId } = status.facts;
  const details = jobId === undefined ? undefined : { jobId };
  const { message, ...options } = toldOf(why, status);
  return new Failure(message, { ...options, details });
}

function toldOf(
  why: Ended,
  { about, facts, state }: ItemStatus,
): FailureOptions & { readonly message: string } {
  const { creditsUsed, problem } = facts;
  const cost = creditsUsed === undefined ? 'of unknown cost' : counted(creditsUsed, 'credit');
  switch (why) {
    case 'failed':
      return {
        message: `its job failed: ${problem ?? 'the service did not say why'}`,
        code: 'ERR_JOB_FAILED',
        exit: 'rejected',
        hint: 'It was given back; --retry-failed asks for it again.',
      };
    case 'partial':
      return {
        message: 'only a part of it could be spoken or timed, and that part is in its files',
        code: 'partial_fail',
        exit: 'partial',
        billed: 'yes',
        hint: `--retry-failed buys all of it again (this part: ${cost}).`,
      };
    case 'lost':
      return lostOf(state, creditsUsed, cost);
    case 'elsewhere':
      return {
        message: `it was paid for at ${about?.origin ?? 'another service'}, which has its audio`,
        code: 'lost',
        exit: 'lost',
        billed: 'yes',
        hint: 'Run the batch against that service once more, or buy it here with --redo.',
      };
  }
}

function lostOf(state: ItemStatus['state'], creditsUsed: number | undefined, cost: string) {
  return {
    message: isDelivered(state)
      ? `a file of it is gone, and cannot be had again without paying (${cost})`
      : `it may have been paid for (${cost}), and its audio is lost`,
    code: 'lost',
    exit: 'lost',
    billed: creditsUsed === undefined ? 'unknown' : 'yes',
    hint: '--retry-failed buys it again.',
  } as const;
}

function isDelivered(state: ItemStatus['state']): boolean {
  return state === 'published' || state === 'verified';
}

/** The batch ends because the next item could cost more than is allowed. */
export function unsentFailure(): Failure {
  return new Failure('the rest could cost more than --max-credits allows', {
    code: 'usage',
    exit: 'usage',
    hint: 'Raise --max-credits and run it again: it goes on where it was.',
  });
}
