import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { EngineCommand } from '../../../contract/engine.ts';

/** How a process ended: `how` is a predicate, such as `ended with exit code 1`. */
interface EngineEnd {
  readonly hasRun: boolean;
  readonly how: string;
}

export interface EngineChild {
  /** Undefined if the process could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has ended. Never rejects. */
  readonly ended: Promise<EngineEnd>;
  /** Resolves when the engine and its child processes have closed stderr. */
  readonly stderrClosed: Promise<void>;
  /** Returns the last part of the engine's stderr output. */
  stderrTail(): string;
  /** Sets whether foley stays alive while the engine runs. */
  keepAlive(isNeeded: boolean): void;
  /** Sends a signal to the engine and its child processes. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** Starts an engine. @throws Error when `spawn` rejects the arguments */
export type LaunchEngine = (command: EngineCommand) => EngineChild;

export interface LaunchOptions {
  /** Environment variables of foley; an engine gets only the allowed ones. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program that runs when the command of an engine is `node`. */
  readonly nodePath: string;
}

/**
 * Returns a function that starts engines, without a shell. Each engine has its own process group: a signal also reaches
 * the child processes of the engine, and Ctrl-C reaches only foley.
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
    // A failed write is not reported, because the end of the process is.
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
    // An engine may ignore the end of stdin.
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
    // The process has just ended.
  }
}

/** Environment variables that an engine gets, to find executables, libraries, files and the user's language. */
const PASSED_ON =
  'PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_DATA_HOME LD_LIBRARY_PATH ' +
  'DYLD_LIBRARY_PATH CUDA_VISIBLE_DEVICES SystemRoot windir PATHEXT APPDATA LOCALAPPDATA USERPROFILE TEMP TMP';

/** Returns the environment of an engine, without foley's API keys and tokens. */
export function engineEnvironment(env: LaunchOptions['env']): LaunchOptions['env'] {
  return Object.fromEntries(PASSED_ON.split(' ').map((name) => [name, env[name]]));
}
