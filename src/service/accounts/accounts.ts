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

/**
 * Makes the accounts that are missing and tops up those that have less than half of the allowance
 * left, by a grant in the ledger.
 */
export function prepareAccounts(
  store: Store,
  accounts: readonly string[],
  { allowance, now }: { readonly allowance: Amounts; readonly now: number },
): void {
  const wanting = (db: Connection): readonly string[] =>
    accounts.filter((id) => isWanting(db, id, allowance));
  if (store.read(wanting).length === 0) return;
  store.write((db) => {
    for (const id of wanting(db)) {
      ensureAccount(db, { id, tier: TIER }, now);
      grant(db, id, missing(amountsIn(db, id, 'available'), allowance), now);
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
export function setWebhookUrl(db: Connection, id: string, url: string): void {
  db.run('UPDATE account SET webhook_url = ? WHERE id = ?', [url, id]);
}

function isWanting(db: Connection, id: string, allowance: Amounts): boolean {
  if (db.get('SELECT 1 FROM account WHERE id = ?', [id]) === undefined) return true;
  const available = amountsIn(db, id, 'available');
  return UNITS.some((unit) => available[unit] < allowance[unit] / 2);
}

function missing(available: Amounts, allowance: Amounts): Amounts {
  return {
    credits: Math.max(0, allowance.credits - available.credits),
    quota: Math.max(0, allowance.quota - available.quota),
  };
}
