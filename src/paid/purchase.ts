import type { LogRecord } from '../durable/log.ts';
import { hasShape } from '../durable/log.ts';

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

/** The fields of a purchase that are known only after its request is sent. */
export interface PurchaseMetadata {
  readonly jobId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly creditsUsed?: number | undefined;
  readonly quotaRemaining?: number | undefined;
  readonly ignoredParameters?: readonly string[] | undefined;
  readonly bytes?: number | undefined;
  /** Sample rate of raw samples, whose file does not state it. */
  readonly sampleRate?: number | undefined;
  /** Checksum of the verified output of a single request; its length shows its kind (`kindOf`). */
  readonly checksum?: string | undefined;
  /** SHA-256 of the audio of an item, by which the batch finds the audio under any name. */
  readonly sha256?: string | undefined;
  /** Modification time of the audio file. Used to detect an unchanged file without reading it. */
  readonly mtimeMs?: number | undefined;
  /** What the voice left out of the text, in the format of `X-Foley-Unspoken`. */
  readonly unspoken?: string | undefined;
  /** True if a segment of the job failed or a word has no timing. */
  readonly isPartial?: boolean | undefined;
  /**
   * True if the service refused the request without billing it. The request may then be sent again with the same
   * idempotency key.
   */
  readonly isRefused?: boolean | undefined;
  /** True if the audio was bought by an earlier request and came from this computer (`--reuse`). */
  readonly isReused?: boolean | undefined;
  /** What reused audio cost when it was bought, in credits; undefined if unknown. */
  readonly creditsSaved?: number | undefined;
  readonly spoolId?: string | undefined;
  readonly problem?: string | undefined;
  /** How a single request ended; undefined while it is open. */
  readonly outcome?: Outcome | undefined;
}

/** A journal record: a new state of one purchase. */
export interface PurchaseStep<About> {
  /**
   * 0 for the first request. Each repetition that is billed on its own has the next higher number, and another
   * idempotency key.
   */
  readonly generation: number;
  readonly state: PurchaseState;
  /** What was recorded before the request was sent; undefined in records of later states. */
  readonly about?: About | undefined;
  readonly facts?: PurchaseMetadata | undefined;
}

/** The current state of a purchase, merged from its records. */
export interface Purchase<About> extends PurchaseStep<About> {
  readonly about: About | undefined;
  readonly facts: PurchaseMetadata;
}

/** Parses the fields that the records of all purchases have; returns undefined for another record. */
export function parseStep<About>(
  record: LogRecord,
  isAbout: (value: unknown) => value is About,
): PurchaseStep<About> | undefined {
  const { generation, about, facts } = record;
  const state = stateIn(record);
  if (state === undefined || typeof generation !== 'number') return undefined;
  if (!Number.isSafeInteger(generation)) return undefined;
  return {
    generation,
    state,
    about: isAbout(about) ? about : undefined,
    facts: isMetadata(facts) ? facts : undefined,
  };
}

/**
 * Returns the state of a purchase after a record. Of two generations, the higher one wins. Within one generation, an
 * outcome wins, then the state that is later in {@link PURCHASE_STATES}. The records may be in any order.
 */
export function mergeStep<Step extends PurchaseStep<unknown>>(
  before: (Step & Purchase<Step['about']>) | undefined,
  step: Step,
): Step & Purchase<Step['about']> {
  const { about, facts = {} } = step;
  if (before === undefined || step.generation > before.generation) return { ...step, about, facts };
  if (step.generation < before.generation) return before;
  const isLater = orderOf(step) >= orderOf(before);
  return {
    ...(isLater ? step : before),
    about: isLater ? (about ?? before.about) : (before.about ?? about),
    facts: isLater ? { ...before.facts, ...facts } : { ...facts, ...before.facts },
  };
}

function orderOf({ facts, state }: PurchaseStep<unknown>): number {
  const ended = facts?.outcome === undefined ? 0 : PURCHASE_STATES.length;
  return ended + PURCHASE_STATES.indexOf(state);
}

/** Returns whether a value is metadata of a purchase. */
export function isMetadata(value: unknown): value is PurchaseMetadata {
  if (!hasShape(value, METADATA_TYPES)) return false;
  const { ignoredParameters: names, outcome } = value;
  const isList = Array.isArray(names) && names.every((one) => typeof one === 'string');
  const isKnown = typeof outcome === 'string' && Object.hasOwn(OUTCOMES, outcome);
  return (names === undefined || isList) && (outcome === undefined || isKnown);
}

const METADATA_TYPES = {
  jobId: 'string|undefined',
  requestId: 'string|undefined',
  creditsUsed: 'number|undefined',
  quotaRemaining: 'number|undefined',
  ignoredParameters: 'object|undefined',
  bytes: 'number|undefined',
  sampleRate: 'number|undefined',
  checksum: 'string|undefined',
  sha256: 'string|undefined',
  mtimeMs: 'number|undefined',
  unspoken: 'string|undefined',
  isPartial: 'boolean|undefined',
  isRefused: 'boolean|undefined',
  isReused: 'boolean|undefined',
  creditsSaved: 'number|undefined',
  spoolId: 'string|undefined',
  problem: 'string|undefined',
  outcome: 'string|undefined',
} satisfies Record<keyof PurchaseMetadata, string>;

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
