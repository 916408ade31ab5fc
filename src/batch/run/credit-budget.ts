/** Credits that a batch may use (`--max-credits`): what was really used, and what is about to be. */
export interface CreditBudget {
  /** Sets aside what an item may cost; false when that is more than is left. */
  reserve(credits: number): boolean;
  /** What was set aside is used, or was not needed. */
  settle(reserved: number, used: number): void;
  readonly used: number;
}

/** @param maximum infinite where nothing is limited */
export function createCreditBudget(maximum: number): CreditBudget {
  let used = 0;
  let reserved = 0;
  return {
    reserve(credits) {
      if (used + reserved + credits > maximum) return false;
      reserved += credits;
      return true;
    },
    settle(before, after) {
      reserved -= before;
      used += after;
    },
    get used() {
      return used;
    },
  };
}
