import { describe, expect, it } from 'vitest';
import { jobPhase, POLL_FLOOR_MS, pollJob } from '../../src/api/poll.ts';
import type { PollCall, PolledJob } from '../../src/api/poll.ts';
import { Failure } from '../../src/errors/failure.ts';
import { manualClock } from './manual-clock.ts';

const pace = { floorMs: POLL_FLOOR_MS };

function job(status: string, retryAfterMs?: number): PolledJob {
  return { id: 'job-1', status, phase: jobPhase(status), creditsUsed: undefined, retryAfterMs };
}

/** Random fractions that repeat in a cycle. */
function circling() {
  let turn = 0;
  return {
    uuid: () => '',
    bytes: (length: number) => new Uint8Array(length),
    fraction: () => ((turn += 1) * 0.618_034) % 1,
  };
}

/** A service with a job of the given duration, which records the time of every poll. */
function service(durationMs: number, retryAfterMs?: number) {
  const clock = manualClock();
  const asked: number[] = [];
  return {
    clock,
    asked,
    read: () => {
      const now = clock.monotonic();
      asked.push(now);
      const status = now >= durationMs ? 'success' : 'processing';
      return Promise.resolve(job(status, retryAfterMs));
    },
  };
}

const DURATIONS = Array.from({ length: 600 }, (_one, index) => (index + 1) * 1_000);

describe('waiting for a job', () => {
  it('adds at most a tenth to jobs of 1 to 600 seconds without Retry-After', async () => {
    const random = circling();
    const shares = await Promise.all(
      DURATIONS.map(async (durationMs) => {
        const { clock, read } = service(durationMs);
        const known = job('pending');
        await pollJob({ id: known.id, known }, read, { clock, random, pace });
        return clock.monotonic() / durationMs - 1;
      }),
    );
    const average = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    expect(average).toBeGreaterThan(0);
    expect(average).toBeLessThanOrEqual(0.1);
  });

  it('polls after Retry-After, at most one delay late', async () => {
    const random = circling();
    for (const namedMs of [1_000, 2_000, 7_000]) {
      for (const durationMs of DURATIONS.filter((_one, index) => index % 7 === 0)) {
        const { asked, clock, read } = service(durationMs, namedMs);
        const known = job('pending', namedMs);
        await pollJob({ id: known.id, known }, read, { clock, random, pace });
        const gaps = asked.map((at, index) => at - (asked[index - 1] ?? 0));
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(namedMs);
        expect(clock.monotonic() - durationMs).toBeLessThanOrEqual(2 * namedMs);
        expect(Math.max(...gaps) - namedMs).toBeLessThanOrEqual(namedMs);
      }
    }
  });

  it.each([
    ['success', undefined, 9],
    ['success', 7, 7],
    ['partial_fail', undefined, 9],
    ['fail', undefined, 0],
  ])(
    'that was created for 9 credits and ends with %s and %s costs %s',
    async (end, polled, cost) => {
      const known = { ...job('pending', 1_000), creditsUsed: 9 };
      const ended = await pollJob(
        { id: known.id, known },
        () => Promise.resolve({ ...job(end), creditsUsed: polled }),
        { clock: manualClock(), random: circling(), pace },
      );
      expect(ended).toMatchObject({ status: end, creditsUsed: cost, retryAfterMs: undefined });
    },
  );

  it('polls an unknown job at once, and an ended one not at all', async () => {
    const { asked, clock, read } = service(0);
    const ended = await pollJob({ id: 'job-1' }, read, { clock, random: circling(), pace });
    expect(ended.status).toBe('success');
    expect(asked).toEqual([0]);
    const again = await pollJob({ id: 'job-1', known: ended }, read, {
      clock,
      random: circling(),
      pace,
    });
    expect(again).toBe(ended);
    expect(asked).toEqual([0]);
  });

  it('waits for the expected duration first', async () => {
    const { asked, clock, read } = service(1_000, 0);
    const deps = { clock, random: circling(), pace, expectedMs: 990 };
    await pollJob({ id: 'job-1', known: job('pending', 0) }, read, deps);
    expect(asked[0]).toBe(990);
    expect(asked.length).toBe(2);
  });

  const busy = [
    failure('network'),
    failure('badAnswer'),
    failure('service', 500),
    failure('service', 503),
    failure('rateLimited', 429),
    failure('rejected', 408),
  ];
  it.each(busy)('continues after a poll that failed with $exit ($status)', async (trouble) => {
    const clock = manualClock();
    const troubles: Failure[] = [];
    const calls: PollCall[] = [];
    const ended = await pollJob(
      { id: 'job-1', known: job('pending') },
      (call) => {
        calls.push(call);
        return calls.length <= 40 ? Promise.reject(trouble) : Promise.resolve(job('done'));
      },
      { clock, random: circling(), pace, onTrouble: (one) => troubles.push(one) },
    );
    expect(ended.status).toBe('done');
    expect(troubles.length).toBe(40);
    // The loop decides when to poll again.
    expect(calls.every(({ maxRetries }) => maxRetries === 0)).toBe(true);
  });

  it('waits for the Retry-After of a busy service', async () => {
    const clock = manualClock();
    let polls = 0;
    await pollJob(
      { id: 'job-1', known: job('pending') },
      () => {
        polls += 1;
        return polls === 1
          ? Promise.reject(failure('service', 503, 30))
          : Promise.resolve(job('done'));
      },
      { clock, random: circling(), pace },
    );
    expect(clock.slept[1]).toBeGreaterThanOrEqual(30_000);
  });

  const final = [
    failure('auth', 401),
    failure('auth', 403),
    failure('rejected', 404),
    failure('rejected', 400),
    failure('service', 501),
  ];
  it.each(final)('ends after a poll that failed with $exit ($status)', async (fault) => {
    const clock = manualClock();
    const waiting = pollJob({ id: 'job-1', known: job('pending') }, () => Promise.reject(fault), {
      clock,
      random: circling(),
      pace,
    });
    await expect(waiting).rejects.toBe(fault);
  });

  it('ends when the disk of the service is full, with a hint for the accepted job', async () => {
    const options = {
      code: 'ERR_STORAGE_FULL',
      exit: 'service',
      status: 507,
      billed: 'no',
    } as const;
    const read = (): Promise<PolledJob> => Promise.reject(new Failure('full', options));
    const deps = { clock: manualClock(), random: circling(), pace };
    await expect(pollJob({ id: 'job-1', known: job('pending') }, read, deps)).rejects.toMatchObject(
      {
        exit: 'service',
        billed: 'unknown',
        hint: expect.stringContaining('continues the job'),
      },
    );
  });

  it('ends when the first polls cannot connect', async () => {
    const clock = manualClock();
    const fault = failure('network');
    const calls: PollCall[] = [];
    const waiting = pollJob(
      { id: 'job-1' },
      (call) => {
        calls.push(call);
        return Promise.reject(fault);
      },
      { clock, random: circling(), pace },
    );
    await expect(waiting).rejects.toBe(fault);
    expect(calls.map(({ maxRetries }) => maxRetries)).toEqual([undefined]);
  });

  it('ends at the deadline and reports the state of the job', async () => {
    const { asked, clock, read } = service(60_000, 4_000);
    const waiting = pollJob({ id: 'job-1', known: job('pending', 4_000) }, read, {
      clock,
      random: circling(),
      pace,
      deadlineAt: 10_000,
    });
    await expect(waiting).rejects.toMatchObject({
      exit: 'deadline',
      code: 'deadline',
      details: { jobId: 'job-1', status: 'processing' },
    });
    expect(clock.monotonic()).toBe(10_000);
    expect(asked.every((at) => at <= 10_000)).toBe(true);
    expect(clock.running()).toEqual([]);
  });

  it('polls once when the deadline has passed already', async () => {
    const { asked, clock, read } = service(0);
    const deps = { clock, random: circling(), pace, deadlineAt: 0 };
    expect((await pollJob({ id: 'job-1' }, read, deps)).status).toBe('success');
    expect(asked).toEqual([0]);
  });

  it('aborts a hanging poll at the deadline', async () => {
    const clock = manualClock();
    const waiting = pollJob(
      { id: 'job-1' },
      ({ signal }) =>
        new Promise<PolledJob>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      { clock, random: circling(), pace, deadlineAt: 5_000 },
    );
    clock.advance(5_000);
    await expect(waiting).rejects.toMatchObject({ exit: 'deadline' });
  });

  it('rejects with the reason of the signal', async () => {
    const { clock, read } = service(60_000);
    const stop = new AbortController();
    const reason = new Error('stopped');
    stop.abort(reason);
    const deps = { clock, random: circling(), pace, signal: stop.signal, deadlineAt: 90_000 };
    const waiting = pollJob({ id: 'job-1', known: job('pending') }, read, deps);
    await expect(waiting).rejects.toBe(reason);
  });
});

function failure(exit: Failure['exit'], status?: number, retryAfter?: number): Failure {
  return new Failure('no luck', { code: 'network', exit, status, retryAfter });
}
