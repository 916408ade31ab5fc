import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateGate } from '../../src/batch/run/rate-gate.ts';
import type { Clock } from '../../src/system/clock.ts';

/** A clock that advances when all sleep: then the next sleeper wakes. */
function simulatedTime() {
  let now = 0;
  const sleepers: { at: number; wake: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ at: now + ms, wake });
      }),
    after: () => () => undefined,
  };
  return {
    clock,
    /** Wakes the sleepers in order until `all` is done. */
    async until(all: Promise<unknown>): Promise<void> {
      let isOver = false;
      void all.finally(() => (isOver = true));
      for (;;) {
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        if (isOver) return;
        sleepers.sort((a, b) => a.at - b.at);
        const next = sleepers.shift();
        if (next === undefined) throw new Error('no sleeper is left');
        now = Math.max(now, next.at);
        next.wake();
      }
    },
  };
}

/** A service that accepts this number of requests a second, as a token bucket. */
function limitedService(clock: Clock, perSecond: number) {
  let tokens = perSecond;
  let at = clock.monotonic();
  return (): { readonly isTaken: boolean; readonly retryAfterMs: number } => {
    const now = clock.monotonic();
    tokens = Math.min(perSecond, tokens + ((now - at) / 1_000) * perSecond);
    at = now;
    if (tokens < 1) return { isTaken: false, retryAfterMs: 1_000 };
    tokens -= 1;
    return { isTaken: true, retryAfterMs: 0 };
  };
}

interface Outcome {
  readonly ms: number;
  readonly refused: number;
}

/** Sends requests of 30 ms through one gate. */
async function work(workers: number, requests: number, perSecond: number): Promise<Outcome> {
  const time = simulatedTime();
  const gate = new RateGate(time.clock);
  const ask = limitedService(time.clock, perSecond);
  let left = requests;
  let refused = 0;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      for (;;) {
        await gate.pass();
        await time.clock.sleep(30);
        const { isTaken, retryAfterMs } = ask();
        if (isTaken) break;
        refused += 1;
        gate.refused(retryAfterMs);
      }
    }
  };
  await time.until(Promise.all(Array.from({ length: workers }, () => worker())));
  return { ms: time.clock.monotonic(), refused };
}

describe('the rate gate of a batch', () => {
  it('does not limit requests before a 429', async () => {
    const { ms, refused } = await work(8, 400, 1_000_000);
    expect([ms, refused]).toEqual([(400 / 8) * 30, 0]);
  });

  it('keeps many workers near the limit of the service with few refused requests', async () => {
    for (const perSecond of [2, 5, 20, 60]) {
      const requests = perSecond * 40;
      const { ms, refused } = await work(8, requests, perSecond);
      // No faster than the service, and not much slower than half of that.
      expect(ms / 1_000, `${perSecond}/s`).toBeGreaterThan(requests / perSecond - 2);
      expect(ms / 1_000, `${perSecond}/s`).toBeLessThan((requests / perSecond) * 2 + 5);
      expect(refused / requests, `${perSecond}/s`).toBeLessThan(0.25);
    }
  });

  it('sends nothing before the time that the service named', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 60_000 }),
        async (waiting, retryAfterMs) => {
          const time = simulatedTime();
          const gate = new RateGate(time.clock);
          await gate.pass();
          gate.refused(retryAfterMs);
          const passed: number[] = [];
          const all = Array.from({ length: waiting }, async () => {
            await gate.pass();
            passed.push(time.clock.monotonic());
          });
          await time.until(Promise.all(all));
          expect(Math.min(...passed)).toBeGreaterThanOrEqual(retryAfterMs);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('ends the limit when no more 429s arrive', async () => {
    const time = simulatedTime();
    const gate = new RateGate(time.clock);
    for (let turn = 0; turn < 10; turn += 1) await gate.pass();
    gate.refused(1_000);
    expect(gate.rate).toBeLessThanOrEqual(5);
    await time.until(
      (async () => {
        for (let turn = 0; turn < 4_000 && gate.rate < Infinity; turn += 1) await gate.pass();
      })(),
    );
    expect(gate.rate).toBe(Infinity);
  });

  it('rejects when the signal is aborted', async () => {
    const { clock } = simulatedTime();
    const gate = new RateGate(clock);
    await expect(gate.pass(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });
});
