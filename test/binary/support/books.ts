import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import type { Row } from '../../../src/service/store/connection.ts';
import { integer, optionalText, text } from '../../../src/service/store/connection.ts';
import { openStore } from '../../../src/service/store/open-store.ts';

/** A request in the service's database, with what was done about its money. */
export interface BookedOperation {
  readonly id: string;
  readonly account: string;
  readonly key: string | undefined;
  readonly endpoint: string;
  readonly state: string;
  /** Of the job that it made, where it made one. */
  readonly jobStatus: string | undefined;
  /** The sum of what this request moved into `spent`. */
  readonly spent: number;
  /** How many entries of the ledger did that, gave it back, or set it aside. */
  readonly commits: number;
  readonly refunds: number;
  readonly reserves: number;
}

export interface Books {
  readonly operations: readonly BookedOperation[];
  /** What each account has in each book, added up from the single entries. */
  readonly amounts: ReadonlyMap<string, number>;
  /** Sums of the entries of one transaction that are not zero, and balances that are not their sum. */
  readonly faults: readonly Row[];
}

/**
 * Reads the books of a service that has ended. They are added up here from the entries, besides what
 * the service's own verification says.
 * @throws StoreError when that finds a fault
 */
export async function readBooks(dataDir: string): Promise<Books> {
  const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
  try {
    verifyLedger(store, { full: true });
    return store.read((db) => ({
      operations: db.all(OPERATIONS).map((row) => operationOf(row)),
      amounts: new Map(
        db
          .all(AMOUNTS)
          .map((row) => [`${text(row, 'account')} ${text(row, 'book')}`, integer(row, 'amount')]),
      ),
      faults: db.all(FAULTS),
    }));
  } finally {
    store.close();
  }
}

function operationOf(row: Row): BookedOperation {
  return {
    id: text(row, 'id'),
    account: text(row, 'account_id'),
    key: optionalText(row, 'idempotency_key'),
    endpoint: text(row, 'endpoint'),
    state: text(row, 'state'),
    jobStatus: optionalText(row, 'status'),
    spent: integer(row, 'spent'),
    commits: integer(row, 'commits'),
    refunds: integer(row, 'refunds'),
    reserves: integer(row, 'reserves'),
  };
}

const OPERATIONS = `
  SELECT o.*, j.status,
    coalesce((SELECT sum(e.amount) FROM ledger_transaction t JOIN ledger_entry e
      ON e.transaction_id = t.id AND e.book = 'spent' AND e.unit = 'credits'
      WHERE t.reservation_id = o.id), 0) AS spent,
    (SELECT count(*) FROM ledger_transaction WHERE reservation_id = o.id AND kind = 'commit') AS commits,
    (SELECT count(*) FROM ledger_transaction WHERE reservation_id = o.id AND kind = 'refund') AS refunds,
    (SELECT count(*) FROM ledger_transaction WHERE reservation_id = o.id AND kind = 'reserve') AS reserves
  FROM operation o LEFT JOIN job j ON j.id = o.id`;

const AMOUNTS = `
  SELECT t.account_id AS account, e.book, sum(e.amount) AS amount
  FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id
  WHERE e.unit = 'credits' GROUP BY t.account_id, e.book`;

const FAULTS = `
  SELECT 'transaction' AS what, transaction_id AS name, unit, sum(amount) AS amount
    FROM ledger_entry GROUP BY transaction_id, unit HAVING sum(amount) <> 0
  UNION ALL
  SELECT 'account', account_id, unit, sum(amount)
    FROM balance GROUP BY account_id, unit HAVING sum(amount) <> 0
  UNION ALL
  SELECT 'owner', id, '', pid FROM owner
  UNION ALL
  SELECT 'reserved', account_id, unit, amount FROM balance WHERE book = 'reserved' AND amount <> 0`;
