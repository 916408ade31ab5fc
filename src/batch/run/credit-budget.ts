import { Failure } from '../../errors/failure.ts';

/** Tracks the credits that a batch uses, up to a maximum (`--max-credits`). */
export class CreditBudget {
  readonly #maximum: number;
  #used = 0;
  #reserved = 0;

  /** @param maximum the most credits that the batch may use; Infinity for no limit */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Reserves the estimated credits of an item; returns false if the budget has too few credits left. */
  reserve(credits: number): boolean {
    if (this.#used + this.#reserved + credits > this.#maximum) return false;
    this.#reserved += credits;
    return true;
  }

  settle(reserved: number, used: number): void {
    this.#reserved -= reserved;
    this.#used += used;
  }
}

/** Returns the failure to report if the budget has too few credits for the remaining items. */
export function budgetFailure(): Failure {
  return new Failure('the remaining items may cost more than --max-credits allows', {
    code: 'usage',
    exit: 'usage',
    hint: 'Raise --max-credits and run the command again: it continues with the remaining items.',
  });
}
