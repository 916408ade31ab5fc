import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { EngineCommand } from '../../../contract/engine.ts';

/** How a process ended: `how` is a predicate, such as `ended with exit code 1`. */
interface EngineEnd {
  readonly hasRun: boolean;
  readonly how: string;
}

/** A running engine process. */
export interface EngineChild {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. */
  readonly ended: Promise<EngineEnd>;
  /** Resolves when it and its descendants have closed stderr. */
  readonly stderrClosed: Promise<void>;
  /** Returns the last bytes that it wrote to stderr. */
  stderrTail(): string;
  /** Sets whether this process stays alive for it. */
  keepAlive(isNeeded: boolean): void;
  /** Signals it and its descendants. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** @throws Error when `spawn` refuses its arguments */
export type LaunchEngine = (command: EngineCommand) => EngineChild;

export interface LaunchOptions {
  /** The environment of this process, of which an engine gets a few variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command `node` means. */
  readonly nodePath: string;
}

/**
 * Creates a launcher of engines, without a shell. Each leads a process group of its own, so that its descendants end
 * with it and only foley handles a Ctrl-C.
 */
export function engineLauncher({ env, nodePath }: LaunchOptions): LaunchEngine {
  const running = new Set<EngineChild>();
  const killAll = (): void => running.forEach((engine) => engine.kill('SIGKILL'));
  return ({ command, args, cwd }) => {
    const child = spawn(command === 'node' ? nodePath : command, args, {
      cwd,
      env: engineEnvironment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: HAS_GROUPS,
      windowsHide: true,
    });
    // The end of the process is reported, not the failed write.
    child.stdin.on('error', () => undefined);
    const engine: EngineChild = {
      pid: child.pid,
      stdin: child.stdin,
      stdout: child.stdout,
      ended: endOf(child, `${command} in ${cwd}`),
      stderrClosed: new Promise((resolve) => child.stderr.once('close', () => resolve())),
      stderrTail: keepTail(child.stderr),
      keepAlive: (isNeeded) => keepAlive(child, isNeeded),
      kill: (signal) => kill(child, signal),
    };
    engine.keepAlive(false);
    // For an engine that does not exit when its stdin ends.
    if (running.size === 0) process.on('exit', killAll);
    running.add(engine);
    void engine.ended.then(() => {
      running.delete(engine);
      if (running.size === 0) process.off('exit', killAll);
      return undefined;
    });
    return engine;
  };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const HAS_GROUPS = process.platform !== 'win32';

function endOf(child: Child, what: string): Promise<EngineEnd> {
  return new Promise((resolve) => {
    child.once('error', ({ message }) =>
      resolve({ hasRun: false, how: `could not be started as ${what}: ${message}` }),
    );
    child.once('exit', (code, signal) => {
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      resolve({ hasRun: true, how });
    });
  });
}

const TAIL_BYTES = 4096;

function keepTail(stderr: Readable): () => string {
  let tail = Buffer.alloc(0);
  stderr.on('data', (bytes: Buffer) => {
    tail = Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES);
  });
  return () => tail.toString();
}

function keepAlive(child: Child, isNeeded: boolean): void {
  for (const part of [child, child.stdin, child.stdout]) {
    if (!(part instanceof Socket) && part !== child) continue;
    if (isNeeded) part.ref();
    else part.unref();
  }
  if (child.stderr instanceof Socket) child.stderr.unref();
}

function kill(child: Child, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // It has just ended.
  }
}

/** Variables that programs need to find executables, files and the user's language. */
const PASSED_ON =
  'PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_DATA_HOME LD_LIBRARY_PATH ' +
  'DYLD_LIBRARY_PATH CUDA_VISIBLE_DEVICES SystemRoot windir PATHEXT APPDATA LOCALAPPDATA USERPROFILE TEMP TMP';

/** Returns the environment of an engine, without the keys and tokens in that of foley. */
function engineEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of PASSED_ON.split(' ')) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}
