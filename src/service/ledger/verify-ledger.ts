import type { Connection, Row } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { StoreError } from '../store/store-error.ts';

/** Since how many transactions a verified state is written down, so that opening stays quick. */
const CHECKPOINT_AFTER_TRANSACTIONS = 500;

/**
 * Checks that the books balance: every transaction sums to zero, the balances are what the entries
 * add up to, and what is reserved belongs to reservations that are open. By default it looks at
 * what was written since the last checked state; `full` looks at everything.
 * @throws StoreError `corrupt`, naming the first rows that are wrong and what they hold
 */
export function verifyLedger(store: Store, options: { readonly full: boolean }): void {
  const checked = store.read((db) => {
    const since = options.full ? 0 : checkpointOf(db);
    const problem =
      findUnbalanced(db, since) ?? findWrongBalance(db, since) ?? findWrongReserve(db);
    if (problem !== undefined) {
      throw new StoreError('corrupt', store.path, `the ledger in ${store.path}: ${problem}`);
    }
    return { since, last: lastTransaction(db) };
  });
  const { last } = checked;
  if (last - checked.since < CHECKPOINT_AFTER_TRANSACTIONS) return;
  store.write((db) => writeCheckpoint(db, last));
}

function checkpointOf(db: Connection): number {
  return numberOf(db, 'SELECT coalesce(max(last_transaction_id), 0) AS n FROM ledger_checkpoint');
}

function lastTransaction(db: Connection): number {
  return numberOf(db, 'SELECT coalesce(max(id), 0) AS n FROM ledger_transaction');
}

function findUnbalanced(db: Connection, since: number): string | undefined {
  const rows = db.all(
    `SELECT transaction_id AS id, unit, group_concat(book || ' ' || amount, ', ') AS entries
     FROM ledger_entry WHERE transaction_id > ?
     GROUP BY transaction_id, unit HAVING sum(amount) <> 0 LIMIT ${MOST_NAMED}`,
    [since],
  );
  return named(rows, (row) => {
    const what = `transaction ${integer(row, 'id')} does not sum to zero in ${text(row, 'unit')}`;
    return `${what} (${text(row, 'entries')})`;
  });
}

function findWrongBalance(db: Connection, since: number): string | undefined {
  const rows = db.all(
    `WITH part AS (
       SELECT account_id, unit, book, amount, 0 AS told FROM ledger_checkpoint WHERE ?1 > 0
       UNION ALL
       SELECT t.account_id, e.unit, e.book, e.amount, 0 FROM ledger_entry e
         JOIN ledger_transaction t ON t.id = e.transaction_id WHERE e.transaction_id > ?1
       UNION ALL
       SELECT account_id, unit, book, 0, amount FROM balance)
     SELECT account_id, unit, book, sum(amount) AS found, sum(told) AS told FROM part
     GROUP BY account_id, unit, book HAVING sum(amount) <> sum(told) LIMIT ${MOST_NAMED}`,
    [since],
  );
  return named(rows, (row) => `${describe(row)}, and the sum of its entries ${found(row)}`);
}

function findWrongReserve(db: Connection): string | undefined {
  const rows = db.all(
    `WITH part AS (
       SELECT account_id, 'credits' AS unit, credits AS amount, 0 AS told FROM reservation
         WHERE state = 'reserved'
       UNION ALL
       SELECT account_id, 'quota', quota, 0 FROM reservation WHERE state = 'reserved'
       UNION ALL
       SELECT account_id, unit, 0, amount FROM balance WHERE book = 'reserved')
     SELECT account_id, unit, 'reserved' AS book, sum(amount) AS found, sum(told) AS told FROM part
     GROUP BY account_id, unit HAVING sum(amount) <> sum(told) LIMIT ${MOST_NAMED}`,
  );
  return named(rows, (row) => `${describe(row)}, and what is set aside ${found(row)}`);
}

const MOST_NAMED = 3;

function named(rows: readonly Row[], say: (row: Row) => string): string | undefined {
  return rows.length === 0 ? undefined : rows.map((row) => say(row)).join('; ');
}

/** Writes the state down, unless another process has moved on from what was checked. */
function writeCheckpoint(db: Connection, checked: number): void {
  if (lastTransaction(db) !== checked) return;
  db.run('DELETE FROM ledger_checkpoint');
  db.run(
    `INSERT INTO ledger_checkpoint (account_id, unit, book, amount, last_transaction_id)
     SELECT account_id, unit, book, amount, ? FROM balance`,
    [checked],
  );
}

function describe(row: Row): string {
  const what = `${text(row, 'book')} ${text(row, 'unit')} of account ${text(row, 'account_id')}`;
  return `${what} is ${integer(row, 'told')}`;
}

function found(row: Row): string {
  return `is ${integer(row, 'found')}`;
}

function numberOf(db: Connection, sql: string): number {
  const row = db.get(sql);
  return row === undefined ? 0 : integer(row, 'n');
}
