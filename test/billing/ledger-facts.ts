import { verifyLedger } from '../../src/service/ledger/ledger.ts';
import { integer, optionalText, text } from '../../src/service/store/connection.ts';
import type { Store } from '../../src/service/store/open-store.ts';

export type ServiceState = 'in_progress' | 'completed' | 'refunded';

/** What the service's own books say of one request. */
export interface LedgerFact {
  readonly key: string;
  readonly state: ServiceState;
  /** What became of its reservation. */
  readonly money: 'reserved' | 'committed' | 'refunded';
  readonly credits: number;
  /** A job, which continues without a client. */
  readonly isJob: boolean;
}

export interface LedgerFacts {
  readonly byKey: ReadonlyMap<string, LedgerFact>;
  /** The processes that have something in progress. */
  readonly owners: ReadonlySet<number>;
  /** Jobs that have not ended. */
  readonly jobsInProgress: number;
  /** Reservations that stand and belong to no request. */
  readonly orphans: number;
  /** Requests that stand twice. */
  readonly doubles: readonly string[];
}

/**
 * Reads the books.
 * @throws StoreError when they do not balance
 */
export function readLedger(store: Store): LedgerFacts {
  verifyLedger(store, { full: true });
  const rows = store.read((db) =>
    db.all(
      // Of a job its request is complete at once; the job answers for the money.
      `SELECT coalesce(o.idempotency_key, 'request ' || o.request_id) AS key, r.state AS money, r.credits, j.id AS job,
         CASE WHEN j.id IS NULL THEN o.state WHEN j.finished_at IS NULL THEN 'in_progress'
           WHEN j.status = 'failed' THEN 'refunded' ELSE 'completed' END AS state
       FROM reservation r LEFT JOIN operation o ON o.id = r.id LEFT JOIN job j ON j.id = r.id`,
    ),
  );
  const byKey = new Map<string, LedgerFact>();
  const doubles: string[] = [];
  let orphans = 0;
  for (const row of rows) {
    const key = optionalText(row, 'key');
    const money = moneyOf(text(row, 'money'));
    if (key === undefined) orphans += money === 'refunded' ? 0 : 1;
    else {
      const state = stateOf(text(row, 'state'));
      const before = byKey.get(key);
      if (before !== undefined && before.money !== 'refunded') doubles.push(key);
      const isJob = optionalText(row, 'job') !== undefined;
      byKey.set(key, { key, state, money, credits: integer(row, 'credits'), isJob });
    }
  }
  const busy = store.read((db) =>
    db.all('SELECT DISTINCT pid FROM owner JOIN operation ON operation.owner_id = owner.id'),
  );
  const jobs = store.read((db) =>
    db.get('SELECT count(*) AS n FROM job WHERE finished_at IS NULL'),
  );
  const jobsInProgress = jobs === undefined ? 0 : integer(jobs, 'n');
  return {
    byKey,
    jobsInProgress,
    orphans,
    doubles,
    owners: new Set(busy.map((row) => integer(row, 'pid'))),
  };
}

/** Credits that are nowhere: the sum over all books, which has to be zero. */
export function sumOfBooks(store: Store): number {
  const row = store.read((db) => db.get('SELECT coalesce(sum(amount), 0) AS n FROM balance'));
  return row === undefined ? 0 : integer(row, 'n');
}

function stateOf(state: string): ServiceState {
  if (state === 'in_progress' || state === 'completed' || state === 'refunded') return state;
  throw new TypeError(`state ${state}`);
}

function moneyOf(state: string): LedgerFact['money'] {
  if (state === 'reserved' || state === 'committed' || state === 'refunded') return state;
  throw new TypeError(`money ${state}`);
}
