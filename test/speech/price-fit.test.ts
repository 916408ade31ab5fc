import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Charge } from '../../src/speech/credit-rates.ts';
import { estimateCredits, withCharge } from '../../src/speech/credit-rates.ts';

describe('an estimate', () => {
  it('is never under what is charged, and near it, once two lengths were seen', () => {
    const length = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 300 }).map((hundredths) => hundredths / 100),
        fc.array(length, { minLength: 1, maxLength: 12 }),
        length,
        (perRequest, perCharacter, seen, asked) => {
          const price = (n: number): number => Math.ceil(perRequest + perCharacter * n - 1e-9);
          const all = [1, ...seen, 10_000];
          const charges = all.reduce<readonly Charge[]>(
            (known, n) => withCharge(known, [n, price(n)]),
            [],
          );
          const estimate = estimateCredits(charges, asked) ?? -1;
          expect(estimate).toBeGreaterThanOrEqual(price(asked));
          expect(estimate).toBeLessThanOrEqual(price(asked) + 3);
        },
      ),
    );
  });

  it('is proportional with one length, and drops a price that has changed', () => {
    expect(estimateCredits([], 6)).toBeUndefined();
    expect(estimateCredits([[6, 6]], 22)).toBe(22);
    const raised = withCharge(withCharge([], [100, 100]), [1_000, 5_000]);
    expect(estimateCredits(raised, 2_000)).toBe(10_000);
    // A minimum for each request is no worst rate for long texts.
    const minimum = withCharge(withCharge([], [1_000, 505]), [1, 6]);
    expect(estimateCredits(minimum, 500)).toBeLessThanOrEqual(257);
  });
});
