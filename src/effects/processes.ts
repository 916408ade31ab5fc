import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The identity of a process. Fields that the platform does not provide are undefined. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Id of the host's current boot. */
  readonly bootId: string | undefined;
  /** The namespace in which the process id is valid, such as a container. */
  readonly pidNamespace: string | undefined;
  /** When the process started, which distinguishes it from a later process with the same id. */
  readonly processStart: string | undefined;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

/** Identifies the processes of this computer. */
export interface Processes {
  readonly self: ProcessIdentity;
  /** Returns whether a process is running; `unknown` if the platform does not say. */
  liveness(process: ProcessIdentity): Liveness;
}

export function systemProcesses(): Processes {
  const self: ProcessIdentity = {
    pid: process.pid,
    host: hostname(),
    bootId: readText('/proc/sys/kernel/random/boot_id'),
    pidNamespace: orUndefined(() => readlinkSync('/proc/self/ns/pid')),
    processStart: startOf(process.pid),
  };
  return {
    self,
    liveness(other) {
      if (other.host !== self.host) return 'unknown';
      if (other.bootId !== self.bootId) return 'dead';
      if (other.pidNamespace !== self.pidNamespace) return 'unknown';
      if (!exists(other.pid)) return 'dead';
      if (other.processStart === undefined) return 'unknown';
      return startOf(other.pid) === other.processStart ? 'alive' : 'dead';
    },
  };
}

// In clock ticks since boot (Linux only); undefined if the process has ended.
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // Field 2, the program name, ends at the last parenthesis. Fields 3 and 22 are the state and the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function readText(path: string): string | undefined {
  return orUndefined(() => readFileSync(path, 'utf8').trim());
}

function orUndefined(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
