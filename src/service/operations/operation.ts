import type { Clock } from '../../effects/clock.ts';
import type { Amounts } from '../ledger/ledger.ts';
import { amountsIn, commit, refund } from '../ledger/ledger.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { Owner } from './owner.ts';

/**
 * A paid request that this process works on. Its end is written once: what comes after `complete`,
 * `refund` or `release` does nothing and gives false, and so does everything after another process
 * took this one for dead and refunded it. An end that cannot be written throws, and becomes a refund
 * as soon as something can be written again.
 */
export interface Operation {
  readonly id: string;
  /** Spends what was reserved; the operation goes on. Gives what the account has left. */
  commit(): Amounts | undefined;
  /** Ends it with the charge standing, and does `alongside` in the same transaction. */
  complete(alongside?: (db: Connection) => void): boolean;
  /**
   * Ends it with the charge given back; its key can never be used again.
   * @param failure why, for the clients that ask again
   */
  refund(failure?: string): boolean;
  /** Takes it back as if it had never been asked for: not charged, and the key is free again. */
  release(): boolean;
}

export interface OperationDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: Owner;
}

export interface OperationIdentity {
  readonly id: string;
  readonly accountId: string;
  /** Called when this process has no more to do with it. */
  readonly onEnd: () => void;
  /** Called when its end could not be written. */
  readonly onUnsettled: () => void;
}

/** An operation that was claimed before, by its id. */
export function createOperation(deps: OperationDeps, identity: OperationIdentity): Operation {
  const { store, clock, owner } = deps;
  const { id, accountId, onEnd, onUnsettled } = identity;
  const end = (state: 'completed' | 'refunded', work: (db: Connection) => void): boolean => {
    try {
      const isOurs = store.write((db) => {
        const changed = db.run(
          'UPDATE operation SET state = ?, owner_id = NULL WHERE id = ? AND owner_id = ?',
          [state, id, owner.id],
        );
        if (changed > 0) work(db);
        return changed > 0;
      });
      onEnd();
      return isOurs;
    } catch (error) {
      onUnsettled();
      throw error;
    }
  };
  return {
    id,
    commit: () =>
      store.write((db) =>
        commit(db, id, clock.now()) ? amountsIn(db, accountId, 'available') : undefined,
      ),
    complete: (alongside = () => undefined) => end('completed', alongside),
    refund: (failure) =>
      end('refunded', (db) => {
        refund(db, id, clock.now());
        db.run('UPDATE operation SET failure = ? WHERE id = ?', [failure ?? null, id]);
      }),
    release: () =>
      end('refunded', (db) => {
        refund(db, id, clock.now());
        db.run('DELETE FROM operation WHERE id = ?', [id]);
      }),
  };
}

/**
 * Gives back what an owner had taken that can no longer finish it. Whatever part of the audio it sent
 * was not the whole.
 */
export function abandon(db: Connection, operationId: string, now: number): void {
  const changed = db.run(
    "UPDATE operation SET state = 'refunded', owner_id = NULL WHERE id = ? AND state = 'in_progress'",
    [operationId],
  );
  if (changed > 0) refund(db, operationId, now);
}
