import type { Clock } from '../../effects/clock.ts';
import type { Amounts } from './ledger.ts';
import { UNITS, amountsIn, ensureAccount, grant } from './ledger.ts';
import { ServiceError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import { optionalText, text, number } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

/** Every account of this service has the one tier that it offers. */
const TIER = 'embedded';

export interface AccountState {
  readonly id: string;
  readonly tier: string;
  readonly webhookUrl: string | undefined;
  readonly available: Amounts;
}

/** What accounts begin with. */
interface Opening {
  readonly allowance: Amounts;
  /** Credits that every account has at first, whatever it had before. */
  readonly openingCredits?: number | undefined;
  readonly now: number;
}

/**
 * Makes the accounts that are missing and tops up those that have less than half of the allowance
 * left, by a grant in the ledger; where `openingCredits` says how many credits there are, a grant adds or
 * takes away what it needs for that.
 */
export function prepareAccounts(
  store: Store,
  accounts: readonly string[],
  { allowance, openingCredits, now }: Opening,
): void {
  const changeOf = (db: Connection, id: string): Amounts => {
    const available = amountsIn(db, id, 'available');
    const change = missing(available, allowance);
    if (openingCredits === undefined) return change;
    return { ...change, credits: openingCredits - available.credits };
  };
  const wanting = (db: Connection): readonly string[] =>
    accounts.filter((id) => isNew(db, id) || UNITS.some((unit) => changeOf(db, id)[unit] !== 0));
  if (store.read(wanting).length === 0) return;
  store.write((db) => {
    for (const id of wanting(db)) {
      ensureAccount(db, { id, tier: TIER }, now);
      grant(db, id, changeOf(db, id), now);
    }
  });
}

/** The account as the profile shows it. @throws TypeError when there is no such account */
export function readAccount(db: Connection, id: string): AccountState {
  const row = db.get('SELECT * FROM account WHERE id = ?', [id]);
  if (row === undefined) throw new TypeError(`account ${id} does not exist`);
  return {
    id,
    tier: text(row, 'tier'),
    webhookUrl: optionalText(row, 'webhook_url'),
    available: amountsIn(db, id, 'available'),
  };
}

/** Stores where the account wants to be told; nothing is ever sent there. */
export function setWebhookUrl(db: Connection, id: string, url: string | undefined): void {
  db.run('UPDATE account SET webhook_url = ? WHERE id = ?', [url ?? null, id]);
}

function isNew(db: Connection, id: string): boolean {
  return db.get('SELECT 1 FROM account WHERE id = ?', [id]) === undefined;
}

/** Nothing while at least half of the allowance is left of both. */
function missing(available: Amounts, allowance: Amounts): Amounts {
  if (UNITS.every((unit) => available[unit] >= allowance[unit] / 2)) return NOTHING;
  return {
    credits: Math.max(0, allowance.credits - available.credits),
    quota: Math.max(0, allowance.quota - available.quota),
  };
}

const NOTHING: Amounts = { credits: 0, quota: 0 };

/** How often an account may ask. */
export interface RateLimit {
  /**
   * Counts a request of the account; one that is refused does not count.
   * @throws ServiceError 429 with `Retry-After`, in whole seconds
   */
  take(accountId: string): void;
}

interface RateLimitDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Above 0, not necessarily whole; `undefined` is no limit. */
  readonly requestsPerSecond: number | undefined;
}

/** A limit that every process on the same data shares, as far as it has the same rate. */
export function createRateLimit({ store, clock, requestsPerSecond }: RateLimitDeps): RateLimit {
  if (requestsPerSecond === undefined) return { take: () => undefined };
  return {
    take(accountId) {
      const waitMs = store.write((db) => {
        const row = db.get('SELECT next_free FROM rate_limit WHERE account_id = ?', [accountId]);
        const earlier = row === undefined ? undefined : number(row, 'next_free');
        const turn = nextTurn(earlier, clock.now(), requestsPerSecond);
        if (turn.kind === 'refused') return turn.waitMs;
        db.run(
          `INSERT INTO rate_limit (account_id, next_free) VALUES (?, ?)
           ON CONFLICT (account_id) DO UPDATE SET next_free = excluded.next_free`,
          [accountId, turn.nextFree],
        );
        return 0;
      });
      if (waitMs > 0) throw limited(waitMs, requestsPerSecond);
    },
  };
}

type Turn =
  | { readonly kind: 'taken'; readonly nextFree: number }
  | { readonly kind: 'refused'; readonly waitMs: number };

/**
 * Takes a turn at `now`, all in milliseconds: turns are `1 / requestsPerSecond` apart, and `nextFree` is
 * the moment of the one after the last that was taken. As many as come in a second, at least one, may be
 * taken ahead of their moment, so that a burst after a pause passes. A moment further ahead than
 * that was written under another rate, or before the clock was set back, and is brought near.
 */
export function nextTurn(
  nextFree: number | undefined,
  now: number,
  requestsPerSecond: number,
): Turn {
  const gapMs = 1_000 / requestsPerSecond;
  const aheadMs = (Math.max(1, Math.floor(requestsPerSecond)) - 1) * gapMs;
  const free = Math.min(Math.max(nextFree ?? now, now), now + aheadMs + gapMs);
  const waitMs = free - aheadMs - now;
  // What is lost in the fractions of a millisecond is nobody's turn.
  if (waitMs > ROUNDING_MS) return { kind: 'refused', waitMs };
  return { kind: 'taken', nextFree: free + gapMs };
}

const ROUNDING_MS = 0.001;

function limited(waitMs: number, requestsPerSecond: number): ServiceError {
  const seconds = Math.ceil(waitMs / 1_000);
  return new ServiceError(
    'ERR_RATE_LIMITED',
    `The account may ask ${requestsPerSecond} times a second; ask again in ${seconds} s`,
    { headers: { 'Retry-After': String(seconds) }, details: { requestsPerSecond } },
  );
}
