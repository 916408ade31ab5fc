import type { LogRecord } from '../durable/log.ts';

/**
 * The states of a purchase, which is one request that may cost credits: a single request, a part of a long text, or an
 * item of a batch. Of two records of a purchase, the one with the later state wins.
 */
export const PURCHASE_STATES = [
  /** The purchase and its idempotency key are in the journal; the request may have been sent. */
  'planned',
  /** A streaming request is about to be sent; it may be billed. The service sends its audio only once. */
  'sent',
  /** The service began to send the audio, or returned the id of a job; it is or will be billed. */
  'accepted',
  /** The service could not make the audio and refunded the request. */
  'failed',
  /** It was billed, and the audio can no longer be downloaded. */
  'lost',
  /** The audio is complete, verified and about to be renamed. */
  'verified',
  /** The audio was delivered. */
  'published',
] as const;

export type PurchaseState = (typeof PURCHASE_STATES)[number];

/** How a purchase can end, and the state that it then has. */
export const OUTCOMES = {
  /** The output is complete and has its final name. */
  published: 'published',
  /** The audio was saved in the spool. */
  spooled: 'published',
  /** The service refused the request without billing it, or the request was never sent. */
  rejected: 'failed',
  /** The service accepted the request but could not complete it. */
  refunded: 'failed',
  /** The request was billed but its audio is lost; foley has reported the loss. */
  lost: 'lost',
  /** The user discarded the result. */
  abandoned: 'lost',
} as const satisfies Readonly<Record<string, PurchaseState>>;

export type Outcome = keyof typeof OUTCOMES;

/** Returns whether a purchase in this state has ended, so that no command continues it by itself. */
export function isSettled(state: PurchaseState): boolean {
  return Object.values<PurchaseState>(OUTCOMES).includes(state);
}

/**
 * Returns the state in a journal record of a request, part or item; undefined if the record contains none. Logs of
 * version 1 have their own names of some states for single requests and for parts.
 */
export function stateIn({ part, state }: LogRecord): PurchaseState | undefined {
  const renamed = (part === undefined ? OLD_REQUEST_STATES : OLD_PART_STATES).get(state);
  return renamed ?? PURCHASE_STATES.find((one) => one === state);
}

const OLD_REQUEST_STATES: ReadonlyMap<unknown, PurchaseState> = new Map([
  ['intent', 'planned'],
  ['done', 'accepted'],
  ['kept', OUTCOMES.spooled],
  ['rejected', OUTCOMES.rejected],
  ['abandoned', OUTCOMES.abandoned],
]);

const OLD_PART_STATES: ReadonlyMap<unknown, PurchaseState> = new Map([
  ['keyed', 'planned'],
  ['done', 'verified'],
  ['delivered', 'published'],
]);
