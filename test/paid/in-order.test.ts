import { assert, asyncProperty, integer, record, scheduler } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mapOrdered } from '../../src/system/concurrency.ts';

const sizes = record({
  count: integer({ min: 0, max: 12 }),
  concurrency: integer({ min: 1, max: 5 }),
  ahead: integer({ min: 1, max: 6 }),
});

describe('whichever piece of work ends first', () => {
  test('all are taken in order, and no more are under way than may be', async () => {
    await assert(
      asyncProperty(sizes, scheduler(), async ({ count, concurrency, ahead }, schedule) => {
        const taken: number[] = [];
        let begun = 0;
        let running = 0;
        const all = mapOrdered({
          count,
          concurrency,
          ahead,
          async work(index) {
            begun += 1;
            running += 1;
            expect(running).toBeLessThanOrEqual(concurrency);
            expect(begun - taken.length).toBeLessThanOrEqual(ahead);
            await schedule.schedule(Promise.resolve());
            running -= 1;
            return index * 10;
          },
          async take(result, index) {
            expect(result).toBe(index * 10);
            await schedule.schedule(Promise.resolve());
            taken.push(index);
          },
        });
        await schedule.waitFor(all);
        expect(taken).toEqual(Array.from({ length: count }, (_, index) => index));
      }),
    );
  });

  test('results before a failure are taken, no work starts after it, and started work ends', async () => {
    const wrong = integer({ min: 0, max: 11 });
    await assert(
      asyncProperty(sizes, wrong, scheduler(), async (size, failing, schedule) => {
        const taken: number[] = [];
        let ended = 0;
        let begun = 0;
        let hasFailed = false;
        const all = mapOrdered({
          ...size,
          async work(index) {
            expect(hasFailed).toBe(false);
            begun += 1;
            await schedule.schedule(Promise.resolve());
            ended += 1;
            if (index !== failing) return;
            hasFailed = true;
            throw new Error('no');
          },
          async take(_, index) {
            taken.push(index);
          },
        });
        const outcome = schedule.waitFor(all).then(
          () => 'fine',
          () => 'failed',
        );
        expect(await outcome).toBe(failing < size.count ? 'failed' : 'fine');
        expect(taken).toEqual(
          Array.from({ length: Math.min(failing, size.count) }, (_, index) => index),
        );
        expect(ended).toBe(begun);
      }),
    );
  });
});
