import { LONGEST_RETRY_AFTER_MS } from '../../api/retry.ts';
import { hasErrno } from '../../durable/file-failures.ts';
import { Failure } from '../../errors/failure.ts';
import { nextStep } from '../../paid/decide.ts';
import { counted } from '../../text/display.ts';
import type { ItemStatus } from '../journal/journal.ts';

export type Decision =
  /** The output file already contains the audio of the item; nothing is done. */
  | { readonly kind: 'skip'; readonly status: ItemStatus }
  /**
   * A request is sent for the item. Its idempotency key contains `generation`. If an earlier command planned the
   * request, `status` is its state in the journal. For a new request, `status` is undefined.
   */
  | {
      readonly kind: 'speak';
      readonly generation: number;
      readonly status: ItemStatus | undefined;
      readonly isAgain: boolean;
    }
  /** Another file in the output folder contains the audio of the item; that file is moved or copied. */
  | { readonly kind: 'reuse'; readonly status: ItemStatus }
  /** The item was billed before; the audio is downloaded from its job, which may still be running. */
  | { readonly kind: 'fetch'; readonly status: ItemStatus }
  /** The item is not spoken again unless the user passes a flag such as `--retry-failed`. `why` is the reason. */
  | { readonly kind: 'ended'; readonly status: ItemStatus; readonly why: StopReason };

export type StopReason =
  /** The job failed and was refunded. */
  | 'failed'
  /** Only part of the text was spoken or timed. */
  | 'partial'
  /** The item may have been billed, and its audio can no longer be downloaded. */
  | 'lost'
  /** The item was billed by another service, so the audio must be downloaded there. */
  | 'elsewhere';

export interface DecisionFacts {
  /**
   * The recorded request that supplies the item's audio or may still supply it, with its state. Undefined if the
   * journal contains no request for the item.
   */
  readonly status: ItemStatus | undefined;
  /** Highest generation number of the item's request body; -1 if the body was never requested. */
  readonly lastGeneration: number;
  /** Whether the output file contains the audio that the journal records for the item, and all caption files exist. */
  readonly isPresent: boolean;
  /** Whether another file in the output folder contains the audio that the journal records for the item. */
  readonly isElsewhere: boolean;
  /** Whether `--redo` names the item and the journal does not contain the new request for it yet. */
  readonly isRedone: boolean;
  /** Whether `--retry-failed` was given. */
  readonly retriesFailed: boolean;
  readonly origin: string;
}

/**
 * Decides what to do with an item (docs/batch.md). Unfinished requests continue under the same idempotency key, and
 * billed audio is fetched. An item is billed twice only with `--redo` or `--retry-failed`.
 */
export function decide(facts: DecisionFacts): Decision {
  const { isRedone, lastGeneration, retriesFailed, status } = facts;
  if (status === undefined) return { kind: 'speak', generation: 0, status, isAgain: false };
  const usual = decideKnown(status, facts);
  const isOpen = usual.kind === 'speak' || (usual.kind === 'fetch' && status.state === 'accepted');
  const isFailure = usual.kind === 'ended' && usual.why !== 'elsewhere';
  if (isRedone ? !isOpen : retriesFailed && isFailure) {
    return { kind: 'speak', generation: lastGeneration + 1, status: undefined, isAgain: true };
  }
  return usual;
}

function decideKnown(
  status: ItemStatus,
  { isElsewhere, isPresent, lastGeneration, origin }: DecisionFacts,
): Decision {
  const { facts, generation, state } = status;
  const { jobId } = facts;
  const speak = { kind: 'speak', generation, status, isAgain: false } as const;
  const isHere = status.about?.origin === origin;
  switch (nextStep({ state, jobId, isPresent: isPresent || isElsewhere })) {
    case 'use':
      if (!isPresent) return { kind: 'reuse', status };
      if (facts.isPartial === true) return { kind: 'ended', status, why: 'partial' };
      return { kind: 'skip', status };
    case 'send':
      // No response is recorded. The same idempotency key prevents a second charge, but only on the same service.
      return state === 'planned' || facts.isRefused === true || isHere
        ? speak
        : { kind: 'ended', status, why: 'lost' };
    case 'fetch':
      return fetchFrom(origin, status);
    case 'renew':
      return { kind: 'ended', status, why: 'failed' };
    case 'give up':
      // The audio was reused, not bought for this item.
      if (facts.isReused === true)
        return { ...speak, generation: lastGeneration + 1, status: undefined };
      // The embedded service refunds a stream that ended with its process, and says so for the same idempotency key.
      return state === 'accepted' && origin === 'embedded' && isHere
        ? speak
        : { kind: 'ended', status, why: 'lost' };
  }
}

/** Decides how to get the audio of a billed request whose audio is not in the output folder. */
export function fetchFrom(origin: string, status: ItemStatus): Decision {
  if (status.facts.jobId === undefined) return { kind: 'ended', status, why: 'lost' };
  const isHere = status.about === undefined || status.about.origin === origin;
  return isHere ? { kind: 'fetch', status } : { kind: 'ended', status, why: 'elsewhere' };
}

/**
 * Returns the failure to report for an item that foley does not speak again automatically, or for such a part of an
 * item. The hint names the flag that speaks it again.
 */
export function endedFailure(
  why: StopReason,
  { about, facts, state }: ItemStatus,
  itemOrPart: 'item' | 'part' = 'item',
): Failure {
  const { creditsUsed, jobId, problem } = facts;
  const cost =
    creditsUsed === undefined ? 'an unknown number of credits' : counted(creditsUsed, 'credit');
  const service = about?.origin ?? 'another service';
  const details = jobId === undefined ? undefined : { jobId };
  switch (why) {
    case 'failed':
      return new Failure(
        `this ${itemOrPart} failed: ${problem ?? 'the service returned no reason'}`,
        {
          code: 'ERR_JOB_FAILED',
          exit: 'rejected',
          hint: `The ${itemOrPart} was refunded; --retry-failed speaks the ${itemOrPart} again.`,
          details,
        },
      );
    case 'partial':
      return new Failure(
        'audio or word times are missing for a part of the text; the files contain the rest',
        {
          code: 'partial_fail',
          exit: 'partial',
          billed: 'yes',
          hint: `--retry-failed speaks and bills the entire item again (the spoken part cost ${cost}).`,
          details,
        },
      );
    case 'lost':
      return new Failure(
        state === 'published' || state === 'verified'
          ? `a file of this ${itemOrPart} is missing, and speaking the ${itemOrPart} again is billed again (${cost})`
          : `this ${itemOrPart} may have been billed (${cost}), and the audio is lost`,
        {
          code: 'lost',
          exit: 'lost',
          billed: creditsUsed === undefined ? 'unknown' : 'yes',
          hint: `--retry-failed speaks and bills the ${itemOrPart} again.`,
          details,
        },
      );
    case 'elsewhere':
      return new Failure(`this ${itemOrPart} was billed by ${service}, which has the audio`, {
        code: 'lost',
        exit: 'lost',
        billed: 'yes',
        hint: 'Run the batch on the service that billed it, or add --redo: the current service then speaks and bills the item again.',
        details,
      });
  }
}

/** Returns whether a failure of one item stops the batch, because the other items would fail, too. */
export function endsBatch({ cause, code, exit, retryAfter }: Failure): boolean {
  if (code === 'ERR_STORAGE_FULL') return true;
  if (exit === 'auth' || exit === 'credits' || exit === 'state') return true;
  if (exit === 'rateLimited') return (retryAfter ?? 0) * 1_000 > LONGEST_RETRY_AFTER_MS;
  return exit === 'output' && hasErrno(cause, 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO');
}
