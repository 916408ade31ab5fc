import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The identity of a process; undefined fields are not available on the platform. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Id of the current boot of the host. */
  readonly bootId: string | undefined;
  /** Namespace of the process id, such as a container. */
  readonly pidNamespace: string | undefined;
  /** Start of the process, to distinguish processes that reuse an id. */
  readonly processStart: string | undefined;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

/** The processes of this computer. */
export interface Processes {
  readonly self: ProcessIdentity;
  /** Returns whether a process is running; `unknown` if the platform cannot tell. */
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

/** Returns the start of a process in clock ticks since boot (Linux only); undefined if the process has ended. */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The program name, field 2, ends at the last parenthesis; the state is field 3, the start is field 22.
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
