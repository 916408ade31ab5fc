import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Amounts, LedgerBook } from '../../src/service/ledger/ledger.ts';
import {
  amountsIn,
  commit,
  commitPart,
  ensureAccount,
  grant,
  refund,
  reserve,
} from '../../src/service/ledger/ledger.ts';
import { verifyLedger } from '../../src/service/ledger/ledger.ts';
import type { Connection } from '../../src/service/store/connection.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { StoreError } from '../../src/service/store/open-store.ts';
import { temporaryFolder } from './support/test-service.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore({
    dataDir: await temporaryFolder(),
    clock: systemClock,
    files: systemFiles,
  });
  onTestFinished(() => store.close());
  store.write((db) => ensureAccount(db, { id: 'a', tier: 'test' }, 0));
});

function amounts(credits: number, quota = credits): Amounts {
  return { credits, quota };
}

function inBook(book: LedgerBook): Amounts {
  return store.read((db) => amountsIn(db, 'a', book));
}

function hold(id: string, wanted: Amounts): string {
  return store.write((db) => reserve(db, { id, accountId: 'a', amounts: wanted }, 0)).kind;
}

/** Credits that a reservation still holds. */
function openIn(db: Connection, id: string): number {
  const row = db.get("SELECT credits FROM reservation WHERE id = ? AND state = 'reserved'", [id]);
  return Number(row?.['credits'] ?? 0);
}

describe('the ledger', () => {
  it('moves what was granted to reserved and spent', () => {
    store.write((db) => grant(db, 'a', amounts(10, 20), 0));
    expect(hold('r', amounts(3, 4))).toBe('reserved');
    expect([inBook('available'), inBook('reserved')]).toEqual([amounts(7, 16), amounts(3, 4)]);
    expect(store.write((db) => commit(db, 'r', 0))).toBe(true);
    expect([inBook('reserved'), inBook('spent')]).toEqual([amounts(0), amounts(3, 4)]);
    expect(inBook('granted')).toEqual(amounts(-10, -20));
  });

  it('spends a part of what was reserved and gives the rest back, once', () => {
    store.write((db) => grant(db, 'a', amounts(10, 20), 0));
    hold('r', amounts(5, 9));
    const part = () => store.write((db) => commitPart(db, 'r', amounts(2, 3), 0));
    expect(part()).toBe(true);
    expect([inBook('available'), inBook('reserved'), inBook('spent')]).toEqual([
      amounts(8, 17),
      amounts(0),
      amounts(2, 3),
    ]);
    verifyLedger(store, { full: true });
    expect(part()).toBe(false);
    expect(store.write((db) => commit(db, 'r', 0))).toBe(false);
    expect(store.write((db) => refund(db, 'r', 0))).toBe(true);
    expect(inBook('available')).toEqual(amounts(10, 20));
    verifyLedger(store, { full: true });
  });

  it('spends no more than was reserved', () => {
    store.write((db) => grant(db, 'a', amounts(10, 20), 0));
    hold('r', amounts(5, 9));
    const more = () => store.write((db) => commitPart(db, 'r', amounts(5, 10), 0));
    expect(more).toThrow('10 quota of 9 cannot be spent');
    expect(inBook('reserved')).toEqual(amounts(5, 9));
  });

  it('reserves both or nothing', () => {
    store.write((db) => grant(db, 'a', amounts(10, 2), 0));
    expect(hold('r', amounts(3))).toBe('insufficient');
    expect(inBook('available')).toEqual(amounts(10, 2));
  });

  it.each([
    ['commit', 'commit', [true, false], amounts(7)],
    ['refund', 'refund', [true, false], amounts(10)],
    ['commit', 'refund', [true, true], amounts(10)],
    ['refund', 'commit', [true, false], amounts(10)],
  ] as const)('settles once: %s then %s', (one, other, expected, available) => {
    const settle = { commit, refund };
    store.write((db) => grant(db, 'a', amounts(10), 0));
    hold('r', amounts(3));
    const done = [one, other].map((name) => store.write((db) => settle[name](db, 'r', 0)));
    expect(done).toEqual(expected);
    expect(inBook('available')).toEqual(available);
    verifyLedger(store, { full: true });
  });

  it('does nothing for a reservation that was never made', () => {
    expect(store.write((db) => commit(db, 'never', 0))).toBe(false);
    expect(store.write((db) => refund(db, 'never', 0))).toBe(false);
  });

  it('charges nothing for what is free', () => {
    expect(hold('r', amounts(0))).toBe('reserved');
    expect(store.write((db) => commit(db, 'r', 0))).toBe(true);
    verifyLedger(store, { full: true });
  });

  it('changes nothing when the work around it fails', () => {
    expect(() =>
      store.write((db) => {
        grant(db, 'a', amounts(10), 0);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(inBook('available')).toEqual(amounts(0));
    verifyLedger(store, { full: true });
  });

  it('balances after any sequence of grants, reservations, commits and refunds', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('grant'), slot: fc.nat(5), amount: fc.nat(50) }),
      fc.record({
        kind: fc.constantFrom('reserve', 'commit', 'part', 'refund'),
        slot: fc.nat(5),
        amount: fc.nat(50),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.uuid(), (steps, account) => {
        store.write((db) => ensureAccount(db, { id: account, tier: 'test' }, 0));
        let granted = 0;
        for (const { kind, slot, amount } of steps) {
          const id = `${account}-${slot}`;
          store.write((db) => {
            const isNew = db.get('SELECT 1 FROM reservation WHERE id = ?', [id]) === undefined;
            if (kind === 'grant') grant(db, account, amounts(amount), 0);
            if (kind === 'grant') granted += amount;
            if (kind === 'reserve' && isNew) {
              reserve(db, { id, accountId: account, amounts: amounts(amount) }, 0);
            }
            if (kind === 'commit') commit(db, id, 0);
            if (kind === 'part') commitPart(db, id, amounts(Math.min(amount, openIn(db, id))), 0);
            if (kind === 'refund') refund(db, id, 0);
          });
        }
        const books = (['available', 'reserved', 'spent'] as const).map(
          (book) => store.read((db) => amountsIn(db, account, book)).credits,
        );
        expect(books.every((amount) => amount >= 0)).toBe(true);
        expect(books.reduce((sum, amount) => sum + amount, 0)).toBe(granted);
        verifyLedger(store, { full: true });
      }),
      { numRuns: 60 },
    );
  });
});

describe('verification', () => {
  it.each([
    [
      'a balance',
      "UPDATE balance SET amount = 99 WHERE book = 'available'",
      /available credits of account a is 99, and the sum of its entries is 7/,
    ],
    [
      'an entry',
      'UPDATE ledger_entry SET amount = amount + 1 WHERE amount > 0',
      /transaction 1 does not sum to zero in credits \(available 11, granted -10\)/,
    ],
    [
      'a reservation',
      "UPDATE reservation SET state = 'refunded'",
      /reserved credits of account a is 3, and the sum of open reservations is 0/,
    ],
  ])('sees %s that was changed', (_name, tampering, message) => {
    store.write((db) => grant(db, 'a', amounts(10), 0));
    hold('r', amounts(3));
    verifyLedger(store, { full: false });
    store.write((db) => db.script(tampering));
    expect(() => verifyLedger(store, { full: false })).toThrow(StoreError);
    expect(() => verifyLedger(store, { full: true })).toThrow(message);
  });

  it('continues from its last checkpoint, and detects changes after and before it', () => {
    store.write((db) => {
      for (let round = 0; round < 600; round += 1) grant(db, 'a', amounts(1), 0);
    });
    verifyLedger(store, { full: false });
    expect(store.read((db) => db.all('SELECT * FROM ledger_checkpoint'))).toHaveLength(4);
    store.write((db) => grant(db, 'a', amounts(5), 0));
    verifyLedger(store, { full: false });
    store.write((db) => db.script("UPDATE balance SET amount = 1 WHERE book = 'available'"));
    expect(() => verifyLedger(store, { full: false })).toThrow(/available/);
  });

  it('looks at everything when it is asked to', () => {
    store.write((db) => {
      for (let round = 0; round < 600; round += 1) grant(db, 'a', amounts(1), 0);
    });
    verifyLedger(store, { full: false });
    store.write((db) => db.script('UPDATE ledger_entry SET amount = 7 WHERE transaction_id = 3'));
    verifyLedger(store, { full: false });
    expect(() => verifyLedger(store, { full: true })).toThrow(/transaction 3/);
  });
});
