import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

/** The identity of a process. Fields that the platform does not provide are undefined. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Id of the current boot, by which foley recognizes processes of this computer even if the host name changes. */
  readonly bootId: string | undefined;
  /** The namespace in which the process id is valid, such as a container. */
  readonly pidNamespace: string | undefined;
  /** Start time: in clock ticks since boot on Linux, in milliseconds since the Unix epoch elsewhere. */
  readonly processStart: string | undefined;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

/** Identifies the processes of this computer. */
export interface Processes {
  readonly self: ProcessIdentity;
  /** Returns whether a process is running; `unknown` if the platform cannot say. */
  liveness(process: ProcessIdentity): Liveness;
}

/**
 * The operating system functions that identify processes. They are injected, so that tests can simulate other operating
 * systems.
 */
export interface ProcessSystem {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly hostName: string;
  /** When this process started, in milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Returns the trimmed content of a file; undefined if it cannot be read. */
  readonly readText: (file: string) => string | undefined;
  /** Returns the target of a symbolic link; undefined if it cannot be read. */
  readonly readLink: (file: string) => string | undefined;
  /** Runs a program and returns its trimmed output; undefined if it fails. */
  readonly run: (program: string, args: readonly string[]) => string | undefined;
  /** Returns whether a process with this id exists. */
  readonly exists: (pid: number) => boolean;
}

const THIS_SYSTEM: ProcessSystem = {
  platform: process.platform,
  env: process.env,
  pid: process.pid,
  hostName: hostname(),
  // Worker threads have their own `performance.timeOrigin`.
  startedAtMs: Date.now() - process.uptime() * 1000,
  readText: (file) => orUndefined(() => readFileSync(file, 'utf8').trim()),
  readLink: (file) => orUndefined(() => readlinkSync(file)),
  run: (program, args) =>
    orUndefined(() =>
      process
        .getBuiltinModule('node:child_process')
        .execFileSync(program, args, {
          encoding: 'utf8',
          env: { SystemRoot: process.env['SystemRoot'], LC_ALL: 'C', TZ: 'UTC' },
          stdio: ['ignore', 'pipe', 'ignore'],
          timeout: RUN_TIMEOUT_MS,
          windowsHide: true,
        })
        .trim(),
    ),
  exists,
};

/**
 * Returns functions that identify this computer's processes. On Linux, reads start times from `/proc`; on macOS and
 * Windows, runs a system program to get the start time of another process.
 */
export function systemProcesses(system = THIS_SYSTEM): Processes {
  const isLinux = system.platform === 'linux' || system.platform === 'android';
  const self: ProcessIdentity = {
    pid: system.pid,
    host: system.hostName,
    bootId: bootIdOf(system),
    pidNamespace: system.readLink('/proc/self/ns/pid'),
    processStart: isLinux
      ? ticksAtStart(system.pid, system)
      : String(Math.round(system.startedAtMs)),
  };
  return {
    self,
    liveness(other) {
      // macOS may change its host name with the network.
      const isSameBoot = other.bootId !== undefined && other.bootId === self.bootId;
      if (!isSameBoot) {
        if (other.host !== self.host) return 'unknown';
        if (other.bootId !== undefined && self.bootId !== undefined) return 'dead';
      }
      if (other.pidNamespace !== self.pidNamespace) return 'unknown';
      if (!system.exists(other.pid)) return 'dead';
      if (other.processStart === undefined) return 'unknown';
      if (isLinux) return ticksAtStart(other.pid, system) === other.processStart ? 'alive' : 'dead';
      const startedMs = other.pid === self.pid ? system.startedAtMs : startOf(other.pid, system);
      if (typeof startedMs !== 'number') return startedMs;
      // Node notes its start some time after the system, and `ps` prints whole seconds.
      const laterMs = Number(other.processStart) - startedMs;
      return laterMs >= -CLOCK_TOLERANCE_MS && laterMs <= NODE_START_MS ? 'alive' : 'dead';
    },
  };
}

const RUN_TIMEOUT_MS = 10_000;
const LATE_SIGNAL_MS = 50;
const CLOCK_TOLERANCE_MS = 2_000;
const NODE_START_MS = 30_000;

function bootIdOf({ platform, readText, run }: ProcessSystem): string | undefined {
  if (platform === 'darwin') return run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']);
  return readText('/proc/sys/kernel/random/boot_id');
}

function ticksAtStart(pid: number, { readText }: ProcessSystem): string | undefined {
  // Missing if the process has ended, and on other systems than Linux.
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // Field 2, the program name, ends at the last parenthesis. Fields 3 and 22 are the state and the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function startOf(pid: number, { env, platform, run }: ProcessSystem): number | 'dead' | 'unknown' {
  if (platform === 'win32') {
    const script = `[DateTimeOffset]::new((Get-Process -Id ${pid}).StartTime).ToUnixTimeMilliseconds()`;
    const printed = run(windowsPowerShell(env), [...POWERSHELL_FLAGS, '-Command', script]);
    return /^\d+$/.test(printed ?? '') ? Number(printed) : 'unknown';
  }
  const printed = run('/bin/ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]);
  const [, state = '', start = ''] = /^(\S+)\s+(.+)$/.exec(printed ?? '') ?? [];
  if (state.startsWith('Z')) return 'dead';
  const startedMs = Date.parse(`${start} UTC`);
  return Number.isNaN(startedMs) ? 'unknown' : startedMs;
}

/**
 * Waits for a signal of the terminal that came before the end of a child process, such as Ctrl-C in a pager. Node may
 * learn of the end first, by up to 12 ms on a busy computer (`findings/node-child-exit-before-earlier-signal.sh`).
 * @throws the signal's abort reason if it is aborted, at the latest after the wait
 */
export async function awaitLateSignal(signal: AbortSignal): Promise<void> {
  await wait(LATE_SIGNAL_MS, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/** Flags with which PowerShell reads no profile of the user and asks no questions. */
export const POWERSHELL_FLAGS = ['-NoLogo', '-NoProfile', '-NonInteractive'] as const;

/** Returns the PowerShell that is part of Windows. */
function windowsPowerShell(env: ProcessSystem['env']): string {
  const root = env['SystemRoot'] ?? env['windir'] ?? 'C:\\Windows';
  return `${root}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function orUndefined(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
