import type { Operation } from '../operations/operation.ts';
import type { Connection } from '../store/connection.ts';
import type { KnownSegment } from './machine/state.ts';

/**
 * A segment that was accepted: what it costs is set aside, spent with its first audio, and settled once
 * (docs/billing.md). A segment whose charge of an earlier connection stands is spoken for nothing.
 */
export class ReservedSegment {
  readonly segment: KnownSegment;
  /** Its place in the request, from 1. */
  readonly number: number;
  readonly #operation: Operation | undefined;
  #isCommitted: boolean;
  #isSettled = false;

  constructor(segment: KnownSegment, number: number, operation: Operation | undefined) {
    this.segment = segment;
    this.number = number;
    this.#operation = operation;
    this.#isCommitted = operation === undefined;
  }

  /** Whether the charge stands. */
  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** Spends it: audio goes out. @throws Error when another process gave it back */
  commit(): void {
    if (this.#isCommitted) return;
    if (this.#operation?.commit() === undefined) throw new SettledElsewhere();
    this.#isCommitted = true;
  }

  /** Ends it with the charge standing, and does `alongside` in the same transaction. */
  complete(
    write: (work: (db: Connection) => void) => void,
    alongside: (db: Connection) => void,
  ): void {
    this.#isSettled = true;
    if (this.#operation === undefined) return write(alongside);
    if (!this.#operation.complete(alongside)) throw new SettledElsewhere();
  }

  /** Ends it with the charge given back. */
  refund(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#operation === undefined) return;
    this.#isCommitted = false;
    this.#operation.refund();
  }

  /** Its listener has gone: what was heard of it stays charged. */
  leave(): void {
    if (this.#isSettled) return;
    if (!this.#isCommitted) return this.refund();
    this.#isSettled = true;
    this.#operation?.complete();
  }
}

/** Another process took this one for dead, and gave back what it had set aside. */
export class SettledElsewhere extends Error {
  override readonly name = 'SettledElsewhere';

  constructor() {
    super('the segment was settled by another process');
  }
}
