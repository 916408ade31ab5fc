import type { Failure } from '../errors/failure.ts';
import type { AttemptOutcome } from './retry.ts';

/** How one attempt failed: for the person, and for the decision about the next attempt. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly failure: Failure;
  readonly outcome: AttemptOutcome;

  constructor(failure: Failure, outcome: AttemptOutcome) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.outcome = outcome;
  }
}
