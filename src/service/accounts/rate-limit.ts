import type { Clock } from '../../effects/clock.ts';
import { ServiceError } from '../service-error.ts';
import { number } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

/** How often an account may ask. */
export interface RateLimit {
  /**
   * Counts a request of the account; one that is refused does not count.
   * @throws ServiceError 429 with `Retry-After`, in whole seconds
   */
  take(accountId: string): void;
}

export interface RateLimitDeps {
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

export type Turn =
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
