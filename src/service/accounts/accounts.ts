import type { Amounts } from '../billing/amounts.ts';
import { UNITS } from '../billing/amounts.ts';
import { amountsIn, ensureAccount, grant } from '../billing/ledger.ts';
import type { Connection } from '../store/connection.ts';
import { optionalText, text } from '../store/connection.ts';
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
export interface Opening {
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
