import type { Store } from '../store/open-store.ts';
import { integer, text } from '../store/connection.ts';

/** One movement of credits in the books of an account. */
export interface LedgerEntry {
  readonly kind: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What came to be available by it, and what was spent. */
  readonly available: number;
  readonly spent: number;
}

const ENTRIES = 100;

/** The last movements of an account's credits, newest first. */
export function latestEntries(store: Store, account: string): LedgerEntry[] {
  const rows = store.read((db) =>
    db.all(
      `SELECT ledger_transaction.kind AS kind, ledger_transaction.created_at AS created_at,
        COALESCE(SUM(CASE WHEN book = 'available' THEN amount END), 0) AS available,
        COALESCE(SUM(CASE WHEN book = 'spent' THEN amount END), 0) AS spent
      FROM ledger_transaction JOIN ledger_entry ON transaction_id = ledger_transaction.id
      WHERE account_id = ? AND unit = 'credits'
      GROUP BY ledger_transaction.id ORDER BY ledger_transaction.id DESC LIMIT ${ENTRIES}`,
      [account],
    ),
  );
  return rows.map((row) => ({
    kind: text(row, 'kind'),
    at: integer(row, 'created_at'),
    available: integer(row, 'available'),
    spent: integer(row, 'spent'),
  }));
}
