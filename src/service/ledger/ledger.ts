import type { Connection } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';

/**
 * A ledger of double-entry rows (docs/api/realtime.md and docs/api/limits.md). Every function runs inside a transaction
 * of the caller, so that money and what it pays for change together.
 */

interface Account {
  readonly id: string;
  readonly tier: string;
}

interface Reservation {
  readonly id: string;
  readonly accountId: string;
  readonly amounts: Amounts;
}

type Reserved =
  | { readonly kind: 'reserved' }
  | { readonly kind: 'insufficient'; readonly available: Amounts };

type TransactionKind = 'grant' | 'reserve' | 'commit' | 'refund';

/** Makes the account unless it exists. */
export function ensureAccount(db: Connection, account: Account, now: number): void {
  db.run('INSERT OR IGNORE INTO account (id, tier, created_at) VALUES (?, ?, ?)', [
    account.id,
    account.tier,
    now,
  ]);
}

/** Adds to what the account has, or takes from it where an amount is negative. */
export function grant(db: Connection, accountId: string, amounts: Amounts, now: number): void {
  const id = record(db, { accountId, kind: 'grant', now });
  move(db, { id, accountId, amounts, from: 'granted', to: 'available' });
}

/** Sets amounts aside, unless there is too little of either. */
export function reserve(db: Connection, reservation: Reservation, now: number): Reserved {
  const { id, accountId, amounts } = reservation;
  const available = amountsIn(db, accountId, 'available');
  if (UNITS.some((unit) => available[unit] < amounts[unit])) {
    return { kind: 'insufficient', available };
  }
  db.run(
    "INSERT INTO reservation (id, account_id, credits, quota, state) VALUES (?, ?, ?, ?, 'reserved')",
    [id, accountId, amounts.credits, amounts.quota],
  );
  const transaction = record(db, { accountId, kind: 'reserve', reservationId: id, now });
  move(db, { id: transaction, accountId, amounts, from: 'available', to: 'reserved' });
  return { kind: 'reserved' };
}

/** Spends what was reserved. Gives false, and does nothing, when it is no longer reserved. */
export function commit(db: Connection, reservationId: string, now: number): boolean {
  return settle(db, reservationId, { kind: 'commit', states: ['reserved'], to: 'spent', now });
}

/**
 * Gives back what was reserved or spent. Gives false, and does nothing, when that was done before.
 */
export function refund(db: Connection, reservationId: string, now: number): boolean {
  const states = ['reserved', 'committed'];
  return settle(db, reservationId, { kind: 'refund', states, to: 'available', now });
}

/**
 * Spends part of what was reserved and gives the rest back, at once. Gives false, and does nothing,
 * when it is no longer reserved.
 * @throws RangeError when it is more than was reserved
 */
export function commitPart(
  db: Connection,
  reservationId: string,
  spent: Amounts,
  now: number,
): boolean {
  const row = db.get("SELECT * FROM reservation WHERE id = ? AND state = 'reserved'", [
    reservationId,
  ]);
  if (row === undefined) return false;
  const accountId = text(row, 'account_id');
  const id = record(db, { accountId, kind: 'commit', reservationId, now });
  for (const unit of UNITS) {
    const reserved = integer(row, unit);
    const rest = reserved - spent[unit];
    if (rest < 0) throw new RangeError(`${spent[unit]} ${unit} of ${reserved} cannot be spent`);
    const changes = { reserved: -reserved, spent: spent[unit], available: rest };
    for (const book of ['reserved', 'spent', 'available'] as const) {
      if (changes[book] !== 0) enter(db, { id, accountId, unit, book, change: changes[book] });
    }
  }
  db.run("UPDATE reservation SET state = 'committed', credits = ?, quota = ? WHERE id = ?", [
    spent.credits,
    spent.quota,
    reservationId,
  ]);
  return true;
}

/** What is in one book of an account. */
export function amountsIn(db: Connection, accountId: string, book: Book): Amounts {
  const rows = db.all('SELECT unit, amount FROM balance WHERE account_id = ? AND book = ?', [
    accountId,
    book,
  ]);
  const amount = new Map(rows.map((row) => [text(row, 'unit'), integer(row, 'amount')]));
  return { credits: amount.get('credits') ?? 0, quota: amount.get('quota') ?? 0 };
}

interface Settlement {
  readonly kind: 'commit' | 'refund';
  readonly states: readonly string[];
  readonly to: Book;
  readonly now: number;
}

function settle(db: Connection, reservationId: string, settlement: Settlement): boolean {
  const { kind, to, now } = settlement;
  const row = db.get('SELECT * FROM reservation WHERE id = ?', [reservationId]);
  if (row === undefined || !settlement.states.includes(text(row, 'state'))) return false;
  const accountId = text(row, 'account_id');
  const amounts = { credits: integer(row, 'credits'), quota: integer(row, 'quota') };
  const state = kind === 'commit' ? 'committed' : 'refunded';
  db.run('UPDATE reservation SET state = ? WHERE id = ?', [state, reservationId]);
  const from = text(row, 'state') === 'reserved' ? 'reserved' : 'spent';
  move(db, {
    id: record(db, { accountId, kind, reservationId, now }),
    accountId,
    amounts,
    from,
    to,
  });
  return true;
}

interface TransactionRecord {
  readonly accountId: string;
  readonly kind: TransactionKind;
  readonly reservationId?: string;
  readonly now: number;
}

function record(db: Connection, transaction: TransactionRecord): number {
  const { accountId, kind, reservationId, now } = transaction;
  const row = db.get(
    `INSERT INTO ledger_transaction (account_id, kind, reservation_id, created_at)
     VALUES (?, ?, ?, ?) RETURNING id`,
    [accountId, kind, reservationId ?? null, now],
  );
  if (row === undefined) throw new TypeError('a ledger transaction was not recorded');
  return integer(row, 'id');
}

interface Move {
  readonly id: number;
  readonly accountId: string;
  readonly amounts: Amounts;
  readonly from: Book;
  readonly to: Book;
}

function move(db: Connection, { id, accountId, amounts, from, to }: Move): void {
  for (const unit of UNITS) {
    const amount = amounts[unit];
    if (amount === 0) continue;
    enter(db, { id, accountId, unit, book: from, change: -amount });
    enter(db, { id, accountId, unit, book: to, change: amount });
  }
}

interface Entry {
  readonly id: number;
  readonly accountId: string;
  readonly unit: Unit;
  readonly book: Book;
  readonly change: number;
}

function enter(db: Connection, { id, accountId, unit, book, change }: Entry): void {
  db.run('INSERT INTO ledger_entry (transaction_id, unit, book, amount) VALUES (?, ?, ?, ?)', [
    id,
    unit,
    book,
    change,
  ]);
  const changed = db.run(
    'UPDATE balance SET amount = amount + ? WHERE account_id = ? AND unit = ? AND book = ?',
    [change, accountId, unit, book],
  );
  if (changed > 0) return;
  db.run('INSERT INTO balance (account_id, unit, book, amount) VALUES (?, ?, ?, ?)', [
    accountId,
    unit,
    book,
    change,
  ]);
}

/** The two things that an account spends: credits, and API quota counted in characters. */
export interface Amounts {
  readonly credits: number;
  readonly quota: number;
}

/** Both units, for what is done to each. */
export const UNITS = ['credits', 'quota'] as const;
type Unit = (typeof UNITS)[number];

/**
 * Where amounts can be. Every transaction moves them from one book to another, so that the sum over
 * the books of an account is always zero: what is available, reserved or spent was once granted.
 */
export type Book = 'granted' | 'available' | 'reserved' | 'spent';
