import type { Billed } from '../../src/errors/failure.ts';
import type { IntentStatus } from '../../src/paid/intents.ts';
import type { PurchaseState } from '../../src/paid/purchase.ts';
import { PURCHASE_STATES, isSettled } from '../../src/paid/purchase.ts';
import type { LedgerFact, LedgerFacts, ServiceState } from './ledger-facts.ts';

/**
 * The model of docs/billing.md: the states of a request, by key in the service and by operation in the client,
 * and what was reported to the user.
 */
export interface Book {
  readonly service: Map<string, ServiceState>;
  readonly client: Map<string, PurchaseState>;
  /** The key of each operation. */
  readonly keyOf: Map<string, string>;
  /** Operations and keys whose audio was delivered whole. */
  readonly deliveredOperations: Set<string>;
  readonly deliveredKeys: Set<string>;
  /** Keys that were reported as billed, or as possibly billed. */
  readonly reported: Map<string, Exclude<Billed, 'no'>>;
}

export function newBook(): Book {
  return {
    service: new Map(),
    client: new Map(),
    keyOf: new Map(),
    deliveredOperations: new Set(),
    deliveredKeys: new Set(),
    reported: new Map(),
  };
}

/** A request that was completed or refunded stays so; one that is gone was never charged. */
export function followService(book: Book, { byKey }: LedgerFacts): void {
  for (const [key, before] of book.service) {
    const now = byKey.get(key)?.state;
    const isAllowed = before === 'in_progress' || now === before;
    if (!isAllowed) throw new Error(`${key} was ${before} and is ${now ?? 'gone'}`);
  }
  book.service.clear();
  for (const { key, state, money } of byKey.values()) {
    if (!MONEY[state].includes(money)) throw new Error(`${key} is ${state}, its money ${money}`);
    book.service.set(key, state);
  }
}

const MONEY: Readonly<Record<ServiceState, readonly LedgerFact['money'][]>> = {
  in_progress: ['reserved', 'committed'],
  completed: ['committed'],
  refunded: ['refunded'],
};

/** Advances or ends an operation; an ended operation never changes. */
export function followClient(book: Book, statuses: readonly IntentStatus[]): void {
  for (const { id, state } of statuses) {
    const before = book.client.get(id);
    const isAllowed =
      before === undefined || before === state || (!isSettled(before) && isAfter(state, before));
    if (!isAllowed) throw new Error(`operation ${id} was ${before} and is ${state}`);
    book.client.set(id, state);
  }
}

function isAfter(state: PurchaseState, before: PurchaseState): boolean {
  return isSettled(state) || PURCHASE_STATES.indexOf(state) > PURCHASE_STATES.indexOf(before);
}

/** Records a report to the user; `yes` is never replaced. */
export function tell(book: Book, key: string, billed: Billed): void {
  if (billed !== 'no' && book.reported.get(key) !== 'yes') book.reported.set(key, billed);
}
