import type { Connection, Row } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { StoreError } from '../store/open-store.ts';

// A double-entry ledger (docs/api/realtime.md and docs/api/limits.md). Call its functions in the transaction that
// stores what the credits pay for.

/** An amount of credits, and an amount of API quota in characters. */
export interface Amounts {
  readonly credits: number;
  readonly quota: number;
}

export const UNITS = ['credits', 'quota'] as const;

/** The four balances of an account in double-entry bookkeeping. They sum to zero, because `granted` is negative. */
export type LedgerBook = 'granted' | 'available' | 'reserved' | 'spent';

/** Creates an account unless it exists. */
export function ensureAccount(
  db: Connection,
  { id, tier }: { readonly id: string; readonly tier: string },
  now: number,
): void {
  db.run('INSERT OR IGNORE INTO account (id, tier, created_at) VALUES (?, ?, ?)', [id, tier, now]);
}

/** Adds credits and quota to an account, or removes them if the amounts are negative. */
export function grant(db: Connection, accountId: string, amounts: Amounts, now: number): void {
  move(db, record(db, accountId, 'grant', undefined, now), amounts, 'granted', 'available');
}

/** Reserves credits and quota for a request. Changes nothing if the account has too few credits or too little quota. */
export function reserve(
  db: Connection,
  reservation: { readonly id: string; readonly accountId: string; readonly amounts: Amounts },
  now: number,
): { readonly kind: 'reserved' } | { readonly kind: 'insufficient'; readonly available: Amounts } {
  const { id, accountId, amounts } = reservation;
  const available = amountsIn(db, accountId, 'available');
  if (UNITS.some((unit) => available[unit] < amounts[unit])) {
    return { kind: 'insufficient', available };
  }
  const { credits, quota } = amounts;
  db.insert('reservation', { id, account_id: accountId, credits, quota, state: 'reserved' });
  move(db, record(db, accountId, 'reserve', id, now), amounts, 'available', 'reserved');
  return { kind: 'reserved' };
}

/** Spends the reserved credits and quota. Returns false if the reservation was already spent or refunded. */
export function commit(db: Connection, reservationId: string, now: number): boolean {
  const row = findReservation(db, reservationId);
  if (row === undefined || text(row, 'state') !== 'reserved') return false;
  db.run("UPDATE reservation SET state = 'committed' WHERE id = ?", [reservationId]);
  const transaction = record(db, text(row, 'account_id'), 'commit', reservationId, now);
  move(db, transaction, amountsOf(row), 'reserved', 'spent');
  return true;
}

/** Refunds reserved credits and quota, also after they were spent. Returns false if they were already refunded. */
export function refund(db: Connection, reservationId: string, now: number): boolean {
  const row = findReservation(db, reservationId);
  if (row === undefined || text(row, 'state') === 'refunded') return false;
  db.run("UPDATE reservation SET state = 'refunded' WHERE id = ?", [reservationId]);
  const transaction = record(db, text(row, 'account_id'), 'refund', reservationId, now);
  const from = text(row, 'state') === 'reserved' ? 'reserved' : 'spent';
  move(db, transaction, amountsOf(row), from, 'available');
  return true;
}

/**
 * Spends a part of a reservation and refunds the rest. Returns false, without changes, if the reservation was already
 * spent or refunded.
 * @throws RangeError when the part is larger than the reservation
 */
export function commitPart(
  db: Connection,
  reservationId: string,
  spent: Amounts,
  now: number,
): boolean {
  const row = findReservation(db, reservationId);
  if (row === undefined || text(row, 'state') !== 'reserved') return false;
  const transaction = record(db, text(row, 'account_id'), 'commit', reservationId, now);
  const reserved = amountsOf(row);
  for (const unit of UNITS) {
    const rest = reserved[unit] - spent[unit];
    if (rest < 0) {
      throw new RangeError(`${spent[unit]} ${unit} of ${reserved[unit]} cannot be spent`);
    }
    enter(db, transaction, unit, 'reserved', -reserved[unit]);
    enter(db, transaction, unit, 'spent', spent[unit]);
    enter(db, transaction, unit, 'available', rest);
  }
  db.run("UPDATE reservation SET state = 'committed', credits = ?, quota = ? WHERE id = ?", [
    spent.credits,
    spent.quota,
    reservationId,
  ]);
  return true;
}

/** Returns one of the balances of an account. */
export function amountsIn(db: Connection, accountId: string, book: LedgerBook): Amounts {
  const rows = db.all('SELECT unit, amount FROM balance WHERE account_id = ? AND book = ?', [
    accountId,
    book,
  ]);
  const amount = new Map(rows.map((row) => [text(row, 'unit'), integer(row, 'amount')]));
  return { credits: amount.get('credits') ?? 0, quota: amount.get('quota') ?? 0 };
}

function findReservation(db: Connection, id: string): Row | undefined {
  return db.get('SELECT * FROM reservation WHERE id = ?', [id]);
}

function amountsOf(row: Row): Amounts {
  return { credits: integer(row, 'credits'), quota: integer(row, 'quota') };
}

interface Transaction {
  readonly id: number;
  readonly accountId: string;
}

function record(
  db: Connection,
  accountId: string,
  kind: 'grant' | 'reserve' | 'commit' | 'refund',
  reservationId: string | undefined,
  now: number,
): Transaction {
  const row = db.get(
    `INSERT INTO ledger_transaction (account_id, kind, reservation_id, created_at)
     VALUES (?, ?, ?, ?) RETURNING id`,
    [accountId, kind, reservationId ?? null, now],
  );
  if (row === undefined) throw new TypeError('a ledger transaction was not recorded');
  return { id: integer(row, 'id'), accountId };
}

function move(
  db: Connection,
  transaction: Transaction,
  amounts: Amounts,
  from: LedgerBook,
  to: LedgerBook,
): void {
  for (const unit of UNITS) {
    enter(db, transaction, unit, from, -amounts[unit]);
    enter(db, transaction, unit, to, amounts[unit]);
  }
}

function enter(
  db: Connection,
  { id, accountId }: Transaction,
  unit: keyof Amounts,
  book: LedgerBook,
  change: number,
): void {
  if (change === 0) return;
  db.insert('ledger_entry', { transaction_id: id, unit, book, amount: change });
  const changed = db.run(
    'UPDATE balance SET amount = amount + ? WHERE account_id = ? AND unit = ? AND book = ?',
    [change, accountId, unit, book],
  );
  if (changed === 0) db.insert('balance', { account_id: accountId, unit, book, amount: change });
}

// Number of transactions between checkpoints. At its start, the service verifies only those after the last checkpoint.
const CHECKPOINT_INTERVAL = 500;

/**
 * Verifies the double-entry ledger: every transaction sums to zero, the balances match the entries, and the reserved
 * amounts match the open reservations. If `full` is false, checks only the transactions after the last checkpoint.
 * @throws StoreError with the reason `corrupt`; its message lists the first inconsistent rows
 */
export function verifyLedger(store: Store, { full }: { readonly full: boolean }): void {
  const { since, last } = store.read((db) => {
    const checkpoint = full
      ? 0
      : numberOf(db, 'SELECT coalesce(max(last_transaction_id), 0) AS n FROM ledger_checkpoint');
    const problem =
      findUnbalanced(db, checkpoint) ?? findWrongBalance(db, checkpoint) ?? findWrongReserve(db);
    if (problem !== undefined) {
      throw new StoreError('corrupt', store.path, `the ledger in ${store.path}: ${problem}`);
    }
    return { since: checkpoint, last: lastTransaction(db) };
  });
  if (last - since < CHECKPOINT_INTERVAL) return;
  store.write((db) => {
    // Another process may have changed the ledger since the check.
    if (lastTransaction(db) !== last) return;
    db.run('DELETE FROM ledger_checkpoint');
    db.run(
      `INSERT INTO ledger_checkpoint (account_id, unit, book, amount, last_transaction_id)
       SELECT account_id, unit, book, amount, ? FROM balance`,
      [last],
    );
  });
}

function lastTransaction(db: Connection): number {
  return numberOf(db, 'SELECT coalesce(max(id), 0) AS n FROM ledger_transaction');
}

function numberOf(db: Connection, sql: string): number {
  const row = db.get(sql);
  return row === undefined ? 0 : integer(row, 'n');
}

const MAX_LISTED_ROWS = 3;

function findUnbalanced(db: Connection, since: number): string | undefined {
  const rows = db.all(
    `SELECT transaction_id AS id, unit, group_concat(book || ' ' || amount, ', ') AS entries
     FROM ledger_entry WHERE transaction_id > ?
     GROUP BY transaction_id, unit HAVING sum(amount) <> 0 LIMIT ${MAX_LISTED_ROWS}`,
    [since],
  );
  return listed(rows, (row) => {
    const what = `transaction ${integer(row, 'id')} does not sum to zero in ${text(row, 'unit')}`;
    return `${what} (${text(row, 'entries')})`;
  });
}

function findWrongBalance(db: Connection, since: number): string | undefined {
  const rows = db.all(
    `WITH part AS (
       SELECT account_id, unit, book, amount, 0 AS balance FROM ledger_checkpoint WHERE ?1 > 0
       UNION ALL
       SELECT t.account_id, e.unit, e.book, e.amount, 0 FROM ledger_entry e
         JOIN ledger_transaction t ON t.id = e.transaction_id WHERE e.transaction_id > ?1
       UNION ALL
       SELECT account_id, unit, book, 0, amount FROM balance)
     SELECT account_id, unit, book, sum(amount) AS found, sum(balance) AS balance FROM part
     GROUP BY account_id, unit, book HAVING sum(amount) <> sum(balance) LIMIT ${MAX_LISTED_ROWS}`,
    [since],
  );
  return listed(rows, (row) => describe(row, 'the sum of its entries'));
}

function findWrongReserve(db: Connection): string | undefined {
  const rows = db.all(
    `WITH part AS (
       SELECT account_id, 'credits' AS unit, credits AS amount, 0 AS balance FROM reservation
         WHERE state = 'reserved'
       UNION ALL
       SELECT account_id, 'quota', quota, 0 FROM reservation WHERE state = 'reserved'
       UNION ALL
       SELECT account_id, unit, 0, amount FROM balance WHERE book = 'reserved')
     SELECT account_id, unit, 'reserved' AS book, sum(amount) AS found, sum(balance) AS balance FROM part
     GROUP BY account_id, unit HAVING sum(amount) <> sum(balance) LIMIT ${MAX_LISTED_ROWS}`,
  );
  return listed(rows, (row) => describe(row, 'the sum of open reservations'));
}

function listed(rows: readonly Row[], format: (row: Row) => string): string | undefined {
  return rows.length === 0 ? undefined : rows.map((row) => format(row)).join('; ');
}

function describe(row: Row, source: string): string {
  const balance = `${text(row, 'book')} ${text(row, 'unit')} of account ${text(row, 'account_id')}`;
  return `${balance} is ${integer(row, 'balance')}, and ${source} is ${integer(row, 'found')}`;
}
