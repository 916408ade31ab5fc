import type { Clock } from '../../system/clock.ts';
import type { Amounts } from './ledger.ts';
import { UNITS, amountsIn, ensureAccount, grant } from './ledger.ts';
import { ServiceError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import { optionalText, text, number } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

// The tier that the service reports for every account.
const TIER = 'embedded';

export interface AccountState {
  readonly id: string;
  readonly tier: string;
  readonly webhookUrl: string | undefined;
  readonly available: Amounts;
}

/**
 * Creates missing accounts, and refills accounts. `allowance` contains an amount of credits and a quota. If an account
 * has less than half of either, both are raised to the allowance. If `openingCredits` is given, the credits of every
 * account are set to exactly this number instead, and only the quota is refilled.
 */
export function prepareAccounts(
  store: Store,
  accounts: readonly string[],
  {
    allowance,
    openingCredits,
    now,
  }: {
    readonly allowance: Amounts;
    readonly openingCredits?: number | undefined;
    readonly now: number;
  },
): void {
  const grantFor = (db: Connection, id: string): Amounts => {
    const available = amountsIn(db, id, 'available');
    const isEnough = UNITS.every((unit) => available[unit] >= allowance[unit] / 2);
    const missing = (unit: keyof Amounts): number =>
      isEnough ? 0 : Math.max(0, allowance[unit] - available[unit]);
    return {
      credits:
        openingCredits === undefined ? missing('credits') : openingCredits - available.credits,
      quota: missing('quota'),
    };
  };
  const findUnprepared = (db: Connection): readonly string[] =>
    accounts.filter((id) => isNew(db, id) || UNITS.some((unit) => grantFor(db, id)[unit] !== 0));
  if (store.read(findUnprepared).length === 0) return;
  store.write((db) => {
    for (const id of findUnprepared(db)) {
      ensureAccount(db, { id, tier: TIER }, now);
      grant(db, id, grantFor(db, id), now);
    }
  });
}

function isNew(db: Connection, id: string): boolean {
  return db.get('SELECT 1 FROM account WHERE id = ?', [id]) === undefined;
}

/** Returns an account. @throws TypeError when the account does not exist */
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

/** Stores the account's webhook URL. The service never calls this URL. */
export function setWebhookUrl(db: Connection, id: string, url: string | undefined): void {
  db.run('UPDATE account SET webhook_url = ? WHERE id = ?', [url ?? null, id]);
}

export type RateLimit = ReturnType<typeof createRateLimit>;

interface RateLimitDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Maximum average number of requests per second for each account, above 0; `undefined` for no limit. */
  readonly requestsPerSecond?: number | undefined;
}

/**
 * Creates the rate limiter, which limits each account separately. All service processes with the same data directory
 * and rate share the limit.
 */
export function createRateLimit({ store, clock, requestsPerSecond }: RateLimitDeps) {
  return {
    /** Counts a request of the account. @throws ServiceError 429 with `Retry-After` if the rate limit is exceeded */
    take(accountId: string): void {
      if (requestsPerSecond === undefined) return;
      const waitMs = store.write((db) => {
        const row = db.get('SELECT next_free FROM rate_limit WHERE account_id = ?', [accountId]);
        const earlier = row === undefined ? undefined : number(row, 'next_free');
        const turn = nextTurn(earlier, clock.now(), requestsPerSecond);
        const refusedMs = turn.kind === 'refused' ? turn.waitMs : 0;
        if (turn.nextFree === earlier) return refusedMs;
        db.run(
          `INSERT INTO rate_limit (account_id, next_free) VALUES (?, ?)
           ON CONFLICT (account_id) DO UPDATE SET next_free = excluded.next_free`,
          [accountId, turn.nextFree],
        );
        return refusedMs;
      });
      if (waitMs > 0) throw limited(waitMs, requestsPerSecond);
    },
  };
}

type RateDecision =
  | { readonly kind: 'taken'; readonly nextFree: number }
  | { readonly kind: 'refused'; readonly waitMs: number; readonly nextFree: number };

/**
 * Decides whether the rate limit allows a request at the time `now`. Each allowed request takes the next free time
 * slot; slots are 1 / `requestsPerSecond` seconds apart. Requests can take slots up to one second ahead, so that short
 * bursts are allowed. All times are in milliseconds.
 * If the clock was set back, `nextFree` is too far ahead; the result corrects it, also for a refused request.
 * @param nextFree time of the first free slot; undefined before the first request
 * @param now time of the request
 */
export function nextTurn(
  nextFree: number | undefined,
  now: number,
  requestsPerSecond: number,
): RateDecision {
  const gapMs = 1_000 / requestsPerSecond;
  const aheadMs = (Math.max(1, Math.floor(requestsPerSecond)) - 1) * gapMs;
  const free = Math.min(Math.max(nextFree ?? now, now), now + aheadMs + gapMs);
  const waitMs = free - aheadMs - now;
  // Rounding must not refuse a slot that is due.
  if (waitMs > ROUNDING_MS) return { kind: 'refused', waitMs, nextFree: free };
  return { kind: 'taken', nextFree: free + gapMs };
}

const ROUNDING_MS = 0.001;

function limited(waitMs: number, requestsPerSecond: number): ServiceError {
  const seconds = Math.ceil(waitMs / 1_000);
  return new ServiceError(
    'ERR_RATE_LIMITED',
    `The limit is ${requestsPerSecond} requests a second; retry in ${seconds} s`,
    { headers: { 'Retry-After': String(seconds) }, details: { requestsPerSecond } },
  );
}
