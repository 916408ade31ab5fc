import type { Clock } from '../../system/clock.ts';
import { closingError, ServiceError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import { text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { OperationKey, Operations } from './operations.ts';
import { usedBefore, findByKey, isSameRequest } from './operations.ts';

/**
 * A billed request whose result is stored, so that retries return the same result. Results are stored by the id of the
 * billing record (operation).
 */
export interface Create<Result> {
  readonly key: OperationKey;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Reads the stored result of a billed request; `undefined` if there is none. */
  readonly find: (db: Connection, operationId: string) => Result | undefined;
  /**
   * Makes the result, charges the account and stores the result. `signal` is aborted when all waiting clients have
   * disconnected.
   */
  readonly make: (signal: AbortSignal) => Promise<Result> | Result;
}

interface CreatesDeps {
  readonly store: Store;
  readonly clock: Clock;
}

// Interval between queries for a result that another process is making.
const POLL_MS = 100;

/**
 * Runs billed requests whose results are stored. Identical requests with the same idempotency key share one result. A
 * request also waits for a result that another request is still making (docs/api/errors.md#idempotency).
 */
export class Creates {
  readonly #deps: CreatesDeps;
  readonly #operations: Operations;
  readonly #running = new Map<string, RunningCreate>();
  readonly #closing = new AbortController();

  constructor(deps: CreatesDeps, operations: Operations) {
    this.#deps = deps;
    this.#operations = operations;
  }

  /**
   * Returns the stored result of a request, or makes the result.
   * @throws ServiceError 409 when a different request used the idempotency key, when the earlier request was refunded,
   * or when its result has expired
   * @throws the errors that `create.make` throws
   */
  async once<Result>(create: Create<Result>): Promise<Result> {
    const { key, make, signal } = create;
    const name = key.idempotencyKey ?? key.requestKey;
    if (name === undefined) return make(signal);
    const id = JSON.stringify([key.accountId, name]);
    for (;;) {
      const running = this.#running.get(id);
      if (running === undefined) return this.#lead(id, create);
      running.requireSame(key);
      await running.join(signal);
      const earlier = this.#findEarlier(create);
      if (earlier !== 'none' && earlier !== 'in_progress') return earlier.result;
    }
  }

  /** Stops waiting for results that other processes are making. */
  close(): void {
    this.#closing.abort(closingError());
  }

  async #lead<Result>(id: string, create: Create<Result>): Promise<Result> {
    const abandoned = new AbortController();
    const made = this.#findOrMake(create, abandoned.signal);
    const forget = (): void => {
      if (this.#running.get(id) === running) this.#running.delete(id);
    };
    const running = new RunningCreate(create.key, made, () => {
      forget();
      abandoned.abort(new Error('every client of this request has disconnected'));
    });
    this.#running.set(id, running);
    void made.then(forget, forget);
    await running.join(create.signal);
    return made;
  }

  async #findOrMake<Result>(create: Create<Result>, signal: AbortSignal): Promise<Result> {
    const { clock } = this.#deps;
    for (;;) {
      const earlier = this.#findEarlier(create);
      if (earlier === 'in_progress') {
        await clock.sleep(POLL_MS, AbortSignal.any([signal, this.#closing.signal]));
        continue;
      }
      if (earlier !== 'none') return earlier.result;
      try {
        return await create.make(signal);
      } catch (error) {
        // Another process claimed the key in the meantime.
        if (!isUsedBefore(error)) throw error;
      }
    }
  }

  #findEarlier<Result>(
    create: Create<Result>,
  ): { readonly result: Result } | 'none' | 'in_progress' {
    const earlier = this.#findResult(create);
    if (earlier === undefined) return 'none';
    if (earlier.result !== undefined) return { result: earlier.result };
    const begun = this.#operations.findBegun(create.key);
    if (begun === undefined) return 'none';
    if (begun.kind === 'in_progress') return begun.kind;
    // Another process may have stored the result between the two queries.
    const made = this.#findResult(create)?.result;
    if (made === undefined) throw usedBefore(begun);
    return { result: made };
  }

  #findResult<Result>({
    find,
    key,
  }: Create<Result>): { readonly result: Result | undefined } | undefined {
    return this.#deps.store.read((db) => {
      const operation = findByKey(db, key);
      if (operation === undefined) return undefined;
      if (!isSameRequest(operation, key)) throw usedBefore({ kind: 'conflict' });
      return { result: find(db, text(operation, 'id')) };
    });
  }
}

// Shared by all clients that send the same request.
class RunningCreate {
  readonly #key: OperationKey;
  readonly #made: Promise<unknown>;
  readonly #abandon: () => void;
  #waiting = 0;

  // `abandon` is called when all clients have disconnected.
  constructor(key: OperationKey, made: Promise<unknown>, abandon: () => void) {
    this.#key = key;
    this.#made = made;
    this.#abandon = abandon;
  }

  requireSame({ endpoint, fingerprint }: OperationKey): void {
    const isSame = this.#key.endpoint === endpoint && this.#key.fingerprint === fingerprint;
    if (!isSame) throw usedBefore({ kind: 'conflict' });
  }

  // If the last client disconnects, aborts the request and waits until it has ended.
  async join(signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#abandon();
        else reject(new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The client disconnected'));
      };
      const onEnd = (end: () => void): void => {
        signal.removeEventListener('abort', onAbort);
        end();
      };
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      this.#made.then(
        () => onEnd(resolve),
        (error: unknown) => onEnd(() => reject(error)),
      );
    });
  }
}

const USED_BEFORE: ReadonlySet<string> = new Set([
  'ERR_REQUEST_ALREADY_COMPLETED',
  'ERR_REQUEST_IN_PROGRESS',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
]);

function isUsedBefore(error: unknown): boolean {
  return error instanceof ServiceError && USED_BEFORE.has(error.code);
}
