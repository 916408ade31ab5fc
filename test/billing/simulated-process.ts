import type { Liveness, ProcessIdentity, Processes } from '../../src/system/processes.ts';

/** A process that a test may end at any moment, as `kill -9` would. */
export interface SimulatedProcess {
  readonly identity: ProcessIdentity;
  readonly isAlive: () => boolean;
  die(): void;
  /** What the system does when it is gone, such as closing its connections. */
  onDeath(call: () => void): void;
}

export interface ProcessTable {
  spawn(): SimulatedProcess;
  /** What one of them can know about the others. */
  seenBy(process: SimulatedProcess): Processes;
}

/** @param isBlind nothing can be known of another process, as between two containers */
export function processTable(isBlind: boolean): ProcessTable {
  const alive = new Set<number>();
  let last = 100;
  return {
    spawn() {
      last += 1;
      const pid = last;
      const calls: (() => void)[] = [];
      alive.add(pid);
      return {
        identity: { pid, host: 'host', bootId: 'b', pidNamespace: 'n', processStart: `${pid}` },
        isAlive: () => alive.has(pid),
        die() {
          if (alive.delete(pid)) for (const call of calls) call();
        },
        onDeath: (call) => void calls.push(call),
      };
    },
    seenBy({ identity }) {
      const liveness = ({ pid }: ProcessIdentity): Liveness => {
        if (isBlind && pid !== identity.pid) return 'unknown';
        return alive.has(pid) ? 'alive' : 'dead';
      };
      return { self: identity, liveness };
    },
  };
}
