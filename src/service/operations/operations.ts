import { createHash } from 'node:crypto';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { Clock } from '../../system/clock.ts';
import type { Processes } from '../../system/processes.ts';
import type { Random } from '../../system/random.ts';
import type { Amounts } from '../ledger/ledger.ts';
import { amountsIn, commit, refund, reserve } from '../ledger/ledger.ts';
import { ServiceError, storageFullError } from '../service-error.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, optionalText, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { Owner, Ownership } from './owner.ts';
import { createOwner, forgetOwner, LEASE_MS } from './owner.ts';

/** The account, the endpoint and the idempotency keys of a request. */
export interface RequestKey {
  readonly accountId: string;
  /** Requests to different endpoints cannot share an idempotency key. */
  readonly endpoint: EndpointId;
  readonly idempotencyKey: string | undefined;
  /** The `X-Request-Id`, if the endpoint accepts this header as an idempotency key (docs/api/errors.md#idempotency). */
  readonly requestKey?: string | undefined;
}

/** The fields that identify a request across retries. */
export interface OperationKey extends RequestKey {
  /** Hash of the request parameters. Identical requests have the same hash. */
  readonly fingerprint: string;
}

export interface OperationRequest extends OperationKey {
  readonly requestId: string;
  readonly charge: Amounts;
}

type OperationState = 'in_progress' | 'completed' | 'refunded';

interface UsedKey {
  readonly kind: 'conflict' | OperationState;
  /** Why the earlier request was refunded; undefined if the reason is unknown or the request was not refunded. */
  readonly failure?: string | undefined;
}

type EarlierRequest = UsedKey & { readonly kind: OperationState };

/**
 * The reason why a billed request is refused: too few credits or too little quota, or a used idempotency key
 * (docs/api/errors.md#idempotency).
 */
export type Refusal = { readonly kind: 'insufficient'; readonly available: Amounts } | UsedKey;

/**
 * A billed request of this process. The first call of `complete`, `refund` or `release` ends the request; later calls
 * return false and change nothing. If the database cannot be written, these methods throw, and the next successful
 * write refunds the request.
 */
export type Operation = ReturnType<typeof openOperation>;

export type Operations = ReturnType<typeof createOperations>;

/**
 * Creates the functions that begin and end the billed requests of this process. The first billed request registers the
 * process in the table `owner`.
 */
export function createOperations({
  store,
  clock,
  random,
  processes,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
}) {
  const owner = createOwner(random.uuid(), clock, processes);
  const unsettled = createUnsettled(store, clock);
  const { write } = unsettled;
  const lease = keepLease(clock, () => write((db) => owner.renew(db)));
  const open = (id: string, accountId: string): Operation => {
    const releaseLease = lease.hold();
    const end: EndOperation = (state, work) => {
      try {
        const isOurs = store.write((db) => {
          const changed = db.run(
            'UPDATE operation SET state = ?, owner_id = NULL WHERE id = ? AND owner_id = ?',
            [state, id, owner.id],
          );
          if (changed > 0) work(db);
          return changed > 0;
        });
        releaseLease();
        return isOurs;
      } catch (error) {
        unsettled.add(id, { releaseLease, full: storageFullError(error) });
        throw error;
      }
    };
    return openOperation(id, accountId, store, clock, end);
  };
  return {
    ownership: { owner, hold: () => lease.hold() } satisfies Ownership,
    /** Begins a request: in one transaction, claims the idempotency key, reserves the price and calls `alongside`. */
    begin(
      request: OperationRequest,
      alongside?: (db: Connection, operationId: string) => void,
    ): { readonly kind: 'begun'; readonly operation: Operation } | Refusal {
      const id = random.uuid();
      const refusal = write((db) => {
        const refused = claim(db, { id, owner, now: clock.now() }, request);
        if (refused === undefined) alongside?.(db, id);
        return refused;
      });
      return refusal ?? { kind: 'begun', operation: open(id, request.accountId) };
    },
    /** Returns the state of an identical earlier request with the same idempotency key; `undefined` if none exists. */
    findBegun(key: OperationKey): EarlierRequest | undefined {
      if (store.read((db) => findByKey(db, key)) === undefined) return undefined;
      return write((db) => {
        const earlier = findByKey(db, key);
        if (earlier === undefined || !isSameRequest(earlier, key)) return undefined;
        return currentState(db, owner, clock.now(), earlier);
      });
    },
    /**
     * Returns why the newest request with this `X-Request-Id` or idempotency key was refunded: the engine's message, or an
     * error if the disk is still too full to store the refund; `undefined` if no reason is known, or if a segment of a
     * realtime request was charged.
     */
    failureOf(account: string, id: string): string | ServiceError | undefined {
      const newest = store.read((db) => findNewest(db, account, id));
      if (newest === undefined || newest.isPaidInPart) return undefined;
      return unsettled.fullDiskOf(newest.id) ?? newest.failure;
    },
    /** Refunds the requests of dead processes; returns the number of refunded requests. */
    recover: (): number => refundOrphaned(store, owner, clock.now()),
    /**
     * Stops renewing the lease. Deletes this process's row in the table `owner`, unless the process still owns
     * unfinished requests or jobs.
     */
    close(): void {
      lease.close();
      // If this fails, the next process finds this process dead and refunds its requests.
      if (lease.wasHeld()) attempt(() => write((db) => forgetOwner(db, owner.id)));
    },
  };
}

// The clocks of two machines may differ by this much.
const CLOCK_DIFFERENCE_MS = 600_000;

function refundOrphaned(store: Store, self: Owner, now: number): number {
  // A much longer lease is from before the clock was set back; its process renews it if it is alive.
  const tooLong = now + LEASE_MS + CLOCK_DIFFERENCE_MS;
  if (store.read((db) => db.get('SELECT 1 FROM owner WHERE lease_until > ?', [tooLong]))) {
    store.write((db) =>
      db.run('UPDATE owner SET lease_until = ? WHERE lease_until > ?', [now + LEASE_MS, tooLong]),
    );
  }
  const findDeadOwners = (db: Connection): readonly Row[] =>
    db.all('SELECT * FROM owner').filter((row) => self.isDead(row));
  if (store.read(findDeadOwners).length === 0) return 0;
  return store.write((db) => {
    const orphaned = db
      .all(
        'SELECT operation.id AS operation_id, owner.* FROM operation JOIN owner ON owner.id = owner_id',
      )
      .filter((row) => self.isDead(row));
    for (const row of orphaned) abandon(db, text(row, 'operation_id'), now);
    for (const row of findDeadOwners(db)) forgetOwner(db, text(row, 'id'));
    return orphaned.length;
  });
}

interface UnsettledEnd {
  readonly releaseLease: () => void;
  /** Set if the end could not be stored because the disk is full. */
  readonly full: ServiceError | undefined;
}

/** Creates the list of incomplete requests whose end could not be stored. The next `write` refunds them. */
function createUnsettled(store: Store, clock: Clock) {
  const unsettled = new Map<string, UnsettledEnd>();
  return {
    add: (id: string, end: UnsettledEnd): unknown => unsettled.set(id, end),
    fullDiskOf: (id: string): ServiceError | undefined => unsettled.get(id)?.full,
    write: <Result>(work: (db: Connection) => Result): Result => {
      const ends = [...unsettled];
      const result = store.write((db) => {
        for (const [id, { full }] of ends) abandon(db, id, clock.now(), full?.message);
        return work(db);
      });
      for (const [id, { releaseLease }] of ends) {
        unsettled.delete(id);
        releaseLease();
      }
      return result;
    },
  };
}

interface NewestRequest {
  readonly id: string;
  readonly failure: string | undefined;
  /** True if it is a segment of a realtime request, another segment of which was charged. */
  readonly isPaidInPart: boolean;
}

function findNewest(db: Connection, account: string, id: string): NewestRequest | undefined {
  const newest = db.get(
    `SELECT id, failure, endpoint LIKE 'openRealtime%' AND EXISTS (
       SELECT 1 FROM operation AS other WHERE other.account_id = operation.account_id
       AND other.request_id = operation.request_id AND other.endpoint = operation.endpoint
       AND other.state = 'completed') AS is_paid_in_part
     FROM operation WHERE account_id = ? AND (request_id = ? OR idempotency_key = ?)
     ORDER BY rowid DESC LIMIT 1`,
    [account, id, id],
  );
  return (
    newest && {
      id: text(newest, 'id'),
      failure: optionalText(newest, 'failure'),
      isPaidInPart: integer(newest, 'is_paid_in_part') === 1,
    }
  );
}

type EndOperation = (state: 'completed' | 'refunded', work: (db: Connection) => void) => boolean;

function openOperation(
  id: string,
  accountId: string,
  store: Store,
  clock: Clock,
  end: EndOperation,
) {
  return {
    id,
    /**
     * Spends the reserved credits and quota; the request continues. Returns the account's remaining credits and quota;
     * undefined if the reservation was already spent or refunded.
     */
    commit: (): Amounts | undefined =>
      store.write((db) =>
        commit(db, id, clock.now()) ? amountsIn(db, accountId, 'available') : undefined,
      ),
    /**
     * Ends the request as completed, and runs the callback `alongside` in the same transaction. Spends no credits:
     * callers call `commit` first.
     */
    complete: (alongside: (db: Connection) => void = () => undefined): boolean =>
      end('completed', alongside),
    /** Ends the request and refunds the charge. Retries with the idempotency key report `failure` as the reason. */
    refund: (failure?: string): boolean =>
      end('refunded', (db) => {
        refund(db, id, clock.now());
        db.run('UPDATE operation SET failure = ? WHERE id = ?', [failure ?? null, id]);
      }),
    /** Deletes the request and refunds the charge. A client can use the idempotency key again. */
    release: (): boolean =>
      end('refunded', (db) => {
        refund(db, id, clock.now());
        db.run('DELETE FROM operation WHERE id = ?', [id]);
      }),
  };
}

// The lease of this process is renewed while work is in progress.
function keepLease(clock: Clock, renew: () => void) {
  let holders = 0;
  let wasHeld = false;
  let stop: (() => void) | undefined;
  const tick = (): void => {
    stop = undefined;
    if (holders === 0) return;
    // The next renewal is long before the lease expires.
    attempt(renew);
    stop = clock.after(LEASE_MS / 4, tick);
  };
  return {
    hold(): () => void {
      holders += 1;
      wasHeld = true;
      stop ??= clock.after(LEASE_MS / 4, tick);
      let isReleased = false;
      return () => {
        if (!isReleased) holders -= 1;
        isReleased = true;
      };
    },
    wasHeld: () => wasHeld,
    close: () => stop?.(),
  };
}

// Ignores errors; each caller explains why they are harmless.
function attempt(work: () => void): void {
  try {
    work();
  } catch {}
}

/**
 * Begins a billed request (docs/api/errors.md#idempotency).
 * @throws ServiceError 402 for too few credits or quota, 409 for a used idempotency key
 */
export function beginOperation(operations: Operations, request: OperationRequest): Operation {
  const begun = operations.begin(request);
  if (begun.kind === 'begun') return begun.operation;
  throw refusalError(begun, request.charge);
}

/**
 * Returns the error for a refused billed request: 402 for too few credits or too little quota, 409 for a used
 * idempotency key (docs/api/errors.md#idempotency).
 */
export function refusalError(refusal: Refusal, charge: Amounts): ServiceError {
  return refusal.kind === 'insufficient'
    ? insufficient(charge, refusal.available)
    : usedBefore(refusal);
}

const USED_BEFORE: Readonly<Record<UsedKey['kind'], readonly [ServiceErrorCode, string]>> = {
  conflict: [
    'ERR_REQUEST_ID_CONFLICT',
    'This idempotency key was used for another request; use a new one',
  ],
  in_progress: ['ERR_REQUEST_IN_PROGRESS', 'The request with this key is in progress'],
  completed: [
    'ERR_REQUEST_ALREADY_COMPLETED',
    'The request with this key is complete and its result is not stored; nothing was charged again',
  ],
  refunded: [
    'ERR_REQUEST_PREVIOUSLY_REFUNDED',
    'The request with this key failed and was refunded; use a new key',
  ],
};

/** Returns the 409 error for a used idempotency key (docs/api/errors.md#idempotency). */
export function usedBefore({ failure, kind }: UsedKey): ServiceError {
  const [code, message] = USED_BEFORE[kind];
  const headers = kind === 'in_progress' ? { 'Retry-After': '1' } : undefined;
  if (failure === undefined) return new ServiceError(code, message, { headers });
  return new ServiceError(code, `${message}. ${failure}`, { headers, details: { failure } });
}

/**
 * Returns the 402 error for too few credits or too little quota. Its details contain the needed and the available
 * amounts.
 */
export function insufficient(needed: Amounts, available: Amounts): ServiceError {
  const unit = available.credits < needed.credits ? 'credits' : 'quota';
  const name = unit === 'quota' ? 'units of API quota' : unit;
  return new ServiceError(
    'ERR_INSUFFICIENT_CREDITS',
    `The request needs ${needed[unit]} ${name}; the account has ${available[unit]}`,
    { details: { needed, available } },
  );
}

interface ClaimContext {
  readonly id: string;
  readonly owner: Owner;
  readonly now: number;
  /**
   * State of the new billing record; default `in_progress`. Use `completed` if the same transaction creates a job,
   * because the job then spends or refunds the reserved credits.
   */
  readonly state?: 'in_progress' | 'completed';
}

/**
 * Claims the idempotency key and reserves the price, in the caller's transaction. If the idempotency key is used or
 * the credits are insufficient, changes nothing and returns the refusal.
 */
export function claim(
  db: Connection,
  { id, owner, now, state = 'in_progress' }: ClaimContext,
  request: OperationRequest,
): Refusal | undefined {
  const earlier = findByKey(db, request);
  if (earlier !== undefined) {
    if (!isSameRequest(earlier, request)) return { kind: 'conflict' };
    return currentState(db, owner, now, earlier);
  }
  const { accountId, endpoint, idempotencyKey, requestKey, fingerprint, requestId, charge } =
    request;
  const reserved = reserve(db, { id, accountId, amounts: charge }, now);
  if (reserved.kind === 'insufficient') return reserved;
  owner.renew(db);
  db.insert('operation', {
    id,
    account_id: accountId,
    endpoint,
    idempotency_key: idempotencyKey ?? requestKey,
    request_key: idempotencyKey === undefined ? undefined : requestKey,
    fingerprint,
    state,
    owner_id: state === 'in_progress' ? owner.id : undefined,
    request_id: requestId,
    created_at: now,
  });
  return undefined;
}

/**
 * Finds the earlier request with the same `Idempotency-Key`. If none exists, searches by `X-Request-Id`
 * (docs/api/errors.md#idempotency). If the new request has both headers, a request found by `X-Request-Id` must also
 * have the same endpoint and parameters. If the new request has only `X-Request-Id`, the search includes earlier
 * requests that had both headers.
 */
export function findByKey(db: Connection, request: OperationKey): Row | undefined {
  const { accountId, endpoint, fingerprint, idempotencyKey, requestKey } = request;
  const claimedUnder = (key: string): Row | undefined =>
    db.get('SELECT * FROM operation WHERE account_id = ? AND idempotency_key = ?', [
      accountId,
      key,
    ]);
  const earlier = idempotencyKey === undefined ? undefined : claimedUnder(idempotencyKey);
  if (earlier !== undefined || requestKey === undefined) return earlier;
  const found = claimedUnder(requestKey);
  if (idempotencyKey !== undefined) {
    return found !== undefined && isSameRequest(found, request) ? found : undefined;
  }
  // If there is none, looks among the requests that sent both headers: an identical one, else the newest one.
  return (
    found ??
    db.get(
      `SELECT * FROM operation WHERE account_id = ? AND request_key = ?
       ORDER BY endpoint = ? AND fingerprint = ? DESC, rowid DESC LIMIT 1`,
      [accountId, requestKey, endpoint, fingerprint],
    )
  );
}

/** Returns whether a request has the same endpoint and parameters as a stored request. */
export function isSameRequest(earlier: Row, { endpoint, fingerprint }: OperationKey): boolean {
  return text(earlier, 'endpoint') === endpoint && text(earlier, 'fingerprint') === fingerprint;
}

// Refunds the request first if the process that owned it is dead.
function currentState(db: Connection, owner: Owner, now: number, earlier: Row): EarlierRequest {
  const kind = text(earlier, 'state');
  const failure = optionalText(earlier, 'failure');
  if (kind === 'completed' || kind === 'refunded') return { kind, failure };
  if (kind !== 'in_progress') throw new TypeError(`operation state ${kind} is unknown`);
  const row = db.get('SELECT * FROM owner WHERE id = ?', [text(earlier, 'owner_id')]);
  if (row === undefined || !owner.isDead(row)) return { kind, failure };
  abandon(db, text(earlier, 'id'), now);
  return { kind: 'refunded' };
}

/**
 * Returns a hash of a request body. The order of the top-level fields does not change the hash, nor do `undefined`
 * fields.
 */
export function fingerprintOf(body: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

const STOPPED = 'The service process ended before the audio was complete';

/** Refunds a billed request (operation) that is in progress, because its process cannot finish it. */
export function abandon(db: Connection, operationId: string, now: number, failure = STOPPED): void {
  const changed = db.run(
    "UPDATE operation SET state = 'refunded', owner_id = NULL, failure = ? WHERE id = ? AND state = 'in_progress'",
    [failure, operationId],
  );
  if (changed > 0) refund(db, operationId, now);
}
