import type { Clock } from '../../src/system/clock.ts';
import type { ManualClock } from '../api/manual-clock.ts';
import { Killed } from '../harness/failing-files.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { turns } from './simulation.ts';

/**
 * The clock of one process that waits for others: while it sleeps they get on with their work, and
 * time passes for all of them. One that was killed does not wake.
 */
export function patientClock(clock: ManualClock, process: SimulatedProcess): Clock {
  return {
    ...clock,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      await turns(10);
      clock.advance(ms);
      if (!process.isAlive()) throw new Killed('sleep');
    },
  };
}
