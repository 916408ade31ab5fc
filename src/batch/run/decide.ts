import type { ItemStatus } from '../journal/records.ts';

/** What is to be done for one item. */
export type Decision =
  /** Its audio lies where it belongs, and nothing of it has changed. */
  | { readonly kind: 'skip'; readonly status: ItemStatus }
  /** It is to be asked for under this generation; a known status was written down before. */
  | {
      readonly kind: 'speak';
      readonly generation: number;
      readonly status: ItemStatus | undefined;
      /** Bought again on purpose. */
      readonly isAgain: boolean;
    }
  /** Its audio is in the folder under another name: it is moved or copied. */
  | { readonly kind: 'reuse'; readonly status: ItemStatus }
  /** An equal item of this plan, with this number, is spoken or fetched; its audio serves both. */
  | { readonly kind: 'share'; readonly of: number; readonly status: ItemStatus | undefined }
  /** It is paid for, and its job has the audio, or will. */
  | { readonly kind: 'fetch'; readonly status: ItemStatus }
  /** It came to an end that only the person can change. */
  | { readonly kind: 'ended'; readonly status: ItemStatus; readonly why: Ended };

export type Ended =
  /** The job failed and was refunded. */
  | 'failed'
  /** Only part of the audio is there. */
  | 'partial'
  /** Paid for, and its audio cannot be had again. */
  | 'lost'
  /** Paid for at another service, which has its audio. */
  | 'elsewhere';

export interface DecisionFacts {
  /** The purchase that serves the item. */
  readonly status: ItemStatus | undefined;
  /** The highest generation in which its body was asked for; -1 when it never was. */
  readonly lastGeneration: number;
  /** Whether the audio that is known of it lies at its output. */
  readonly isThere: boolean;
  /** Whether that audio is in the folder under another name. */
  readonly isElsewhere: boolean;
  /** `--retry-failed`. */
  readonly retriesFailed: boolean;
  /** `--redo` names it, and it was not bought again for that yet. */
  readonly isRedone: boolean;
  /** Of the service that is asked. */
  readonly origin: string;
}

/**
 * What is to be done for an item (docs/batch.md): what is open is gone on with under its own key, what was
 * paid for is fetched, and only a refusal of the person's to leave it at that buys anything twice.
 */
export function decide(facts: DecisionFacts): Decision {
  const { isRedone, lastGeneration, retriesFailed, status } = facts;
  if (status === undefined) {
    return { kind: 'speak', generation: 0, status, isAgain: false };
  }
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
  { isElsewhere, isThere, origin }: DecisionFacts,
): Decision {
  switch (status.state) {
    case 'planned':
      return { kind: 'speak', generation: status.generation, status, isAgain: false };
    // What cannot be asked again was interrupted after it may have been paid for, unless it was refused.
    case 'sent':
      return status.facts.isRefused === true
        ? { kind: 'speak', generation: status.generation, status, isAgain: false }
        : { kind: 'ended', status, why: 'lost' };
    case 'failed':
      return { kind: 'ended', status, why: 'failed' };
    case 'lost':
      return { kind: 'ended', status, why: 'lost' };
    case 'accepted':
      return fetchFrom(origin, status);
    case 'verified':
    case 'published':
      if (!isThere) return isElsewhere ? { kind: 'reuse', status } : fetchFrom(origin, status);
      if (status.facts.isPartial === true) return { kind: 'ended', status, why: 'partial' };
      return { kind: 'skip', status };
  }
}

/** What is to be done for a purchase whose audio is not in the folder. */
export function fetchFrom(origin: string, status: ItemStatus): Decision {
  if (status.facts.jobId === undefined) return { kind: 'ended', status, why: 'lost' };
  const isHere = status.about === undefined || status.about.origin === origin;
  return isHere ? { kind: 'fetch', status } : { kind: 'ended', status, why: 'elsewhere' };
}
