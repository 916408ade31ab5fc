import type { Clock } from '../../effects/clock.ts';
import type { Processes } from '../../effects/processes.ts';
import type { Random } from '../../effects/random.ts';
import type { Connection, Row } from '../store/connection.ts';
import { text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { EarlierRequest, OperationKey, OperationRequest, Refusal } from './claim.ts';
import { claim, findBegun, findByKey } from './claim.ts';
import type { Operation } from './operation.ts';
import { abandon, createOperation } from './operation.ts';
import type { Owner, Ownership } from './owner.ts';
import { createOwner, forgetOwner, LEASE_MS } from './owner.ts';

type Begun = { readonly kind: 'begun'; readonly operation: Operation } | Refusal;

interface OperationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
}

/** The paid requests of every process on one data directory. */
export interface Operations {
  readonly ownership: Ownership;
  /**
   * Claims the key and reserves the charge, both or neither (docs/api/errors.md#idempotency), and does `alongside` in the
   * same transaction.
   */
  begin(
    request: OperationRequest,
    alongside?: (db: Connection, operationId: string) => void,
  ): Begun;
  /** How far the same request is that was begun under this key before, if it was (docs/api/errors.md#idempotency). */
  findBegun(key: OperationKey): EarlierRequest | undefined;
  /** Refunds what dead owners left; gives how many operations that were. */
  recover(): number;
  /** Takes this process off the list of owners; what it still has in progress stays its own. */
  close(): void;
}

/** Operations in the name of this process, which becomes an owner with its first one. */
export function createOperations(deps: OperationsDeps): Operations {
  const { store, clock, random, processes } = deps;
  const owner = createOwner({ id: random.uuid(), clock, processes });
  const unsettled = createUnsettledEnds(store, (db, id) => abandon(db, id, clock.now()));
  const { write } = unsettled;
  const lease = keepLease({ clock, renew: () => write((db) => owner.renew(db)) });
  return {
    ownership: { owner, hold: () => lease.hold() },
    begin(request, alongside) {
      const id = random.uuid();
      const refusal = write((db) => {
        const refused = claim(db, { id, owner, now: clock.now() }, request);
        if (refused === undefined) alongside?.(db, id);
        return refused;
      });
      if (refusal !== undefined) return refusal;
      const onEnd = lease.hold();
      const onUnsettled = (): void => unsettled.add(id, onEnd);
      const identity = { id, accountId: request.accountId, onEnd, onUnsettled };
      return { kind: 'begun', operation: createOperation({ store, clock, owner }, identity) };
    },
    findBegun(key) {
      if (store.read((db) => findByKey(db, key)) === undefined) return undefined;
      return write((db) => findBegun(db, { owner, now: clock.now() }, key));
    },
    recover() {
      if (store.read((db) => findGone(db, owner)).length === 0) return 0;
      return store.write((db) => {
        const rows = inProgress(db).filter((row) => owner.isDead(row));
        for (const row of rows) abandon(db, text(row, 'operation_id'), clock.now());
        for (const row of findGone(db, owner)) forgetOwner(db, text(row, 'id'));
        return rows.length;
      });
    },
    close() {
      lease.close();
      if (lease.wasHeld()) leave(() => write((db) => forgetOwner(db, owner.id)));
    },
  };
}

/** Who cannot take itself off the list is found dead by the next process. */
function leave(work: () => void): void {
  try {
    work();
  } catch {
    // Nothing is lost: what was in progress is given back then.
  }
}

function findGone(db: Connection, self: Owner): readonly Row[] {
  return db.all('SELECT * FROM owner').filter((row) => self.isDead(row));
}

function inProgress(db: Connection): readonly Row[] {
  return db.all(
    'SELECT operation.id AS operation_id, owner.* FROM operation JOIN owner ON owner.id = owner_id',
  );
}

interface Lease {
  /** Keeps the lease renewed until the function that it gives is called. */
  hold(): () => void;
  /** Whether anything ever held it. */
  wasHeld(): boolean;
  /** Renews no more. */
  close(): void;
}

/** Renews the lease of this process for as long as anything is in progress. */
function keepLease({ clock, renew }: { clock: Clock; renew: () => void }): Lease {
  let holders = 0;
  let held = false;
  let stop: (() => void) | undefined;
  const tick = (): void => {
    stop = undefined;
    if (holders === 0) return;
    attempt(renew);
    stop = clock.after(LEASE_MS / 4, tick);
  };
  return {
    hold() {
      holders += 1;
      held = true;
      stop ??= clock.after(LEASE_MS / 4, tick);
      let ended = false;
      return () => {
        if (!ended) holders -= 1;
        ended = true;
      };
    },
    wasHeld: () => held,
    close: () => stop?.(),
  };
}

/** A renewal that fails is not the end: the next comes well before the lease runs out. */
function attempt(renew: () => void): void {
  try {
    renew();
  } catch {
    // Nothing to undo; whoever pays for this operation learns of a broken database at its end.
  }
}

/**
 * Ends that could not be written, as when the database was held too long. Nothing whole was delivered
 * then, so each is given back with the next write that this process does.
 */
interface UnsettledEnds {
  /** @param onEnd called when it is settled */
  add(operationId: string, onEnd: () => void): void;
  /** Runs `work` as one transaction, together with what is left to be settled. */
  readonly write: <Result>(work: (db: Connection) => Result) => Result;
}

function createUnsettledEnds(
  store: Store,
  giveBack: (db: Connection, operationId: string) => void,
): UnsettledEnds {
  const left = new Map<string, () => void>();
  return {
    add: (operationId, onEnd) => void left.set(operationId, onEnd),
    write(work) {
      const ends = [...left];
      const result = store.write((db) => {
        for (const [id] of ends) giveBack(db, id);
        return work(db);
      });
      for (const [id, onEnd] of ends) {
        left.delete(id);
        onEnd();
      }
      return result;
    },
  };
}
