import type { ChildProcessByStdio } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { EngineCommand } from '../../../contract/engine.ts';

interface EngineEnd {
  readonly hasRun: boolean;
  readonly how: string;
}

export interface EngineChild {
  /** Process id of the engine; undefined if the process could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has ended. Never rejects. */
  readonly ended: Promise<EngineEnd>;
  /** Resolves when the engine and its child processes have closed stderr. */
  readonly stderrClosed: Promise<void>;
  /** Returns the last 4 KiB that the engine has written to stderr. */
  stderrTail(): string;
  /** Sets whether the running engine keeps the foley process alive. */
  keepAlive(isNeeded: boolean): void;
  /** Sends a signal to the engine and its child processes. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** Starts the process of an engine. @throws Error when `spawn` rejects the arguments */
export type LaunchEngine = (command: EngineCommand) => EngineChild;

export interface LaunchOptions {
  /** Environment variables of foley, of which an engine gets only a fixed list. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the Node.js executable, for engines whose command is `node`. */
  readonly nodePath: string;
  /** Operating system, default that of this process. On Windows, `taskkill` ends an engine and its children. */
  readonly platform?: NodeJS.Platform;
  /**
   * Runs a Windows program such as `taskkill`. If `isExiting` is true, foley is about to exit, so the function waits
   * until the program has ended.
   */
  readonly runProgram?: (file: string, args: readonly string[], isExiting: boolean) => void;
}

/**
 * Returns a function that starts engines without a shell. Each engine has its own process group, so that a signal
 * also reaches the engine's child processes, and Ctrl-C does not reach the engine.
 */
export function engineLauncher(options: LaunchOptions): LaunchEngine {
  const { env, nodePath, platform = process.platform } = options;
  const running = new Set<EngineChild>();
  let isExiting = false;
  const killAll = (): void => {
    isExiting = true;
    running.forEach((engine) => engine.kill('SIGKILL'));
  };
  return ({ command, args, cwd }) => {
    const child = spawn(command === 'node' ? nodePath : command, args, {
      cwd,
      env: engineEnvironment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: platform !== 'win32',
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
      kill: (signal) => {
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
        if (platform === 'win32') killTree(child.pid, isExiting, options);
        else killGroup(child.pid, signal);
      },
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

function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The process has just ended.
  }
}

function killTree(
  pid: number,
  isExiting: boolean,
  { env, runProgram = runWindowsProgram }: LaunchOptions,
): void {
  const taskkill = `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`;
  runProgram(taskkill, ['/PID', String(pid), '/T', '/F'], isExiting);
}

function runWindowsProgram(file: string, args: readonly string[], isExiting: boolean): void {
  const options = { stdio: 'ignore', windowsHide: true } as const;
  if (isExiting) spawnSync(file, args, options);
  // An error means that the program is missing; the engine then ends with its stdin.
  else spawn(file, args, options).on('error', () => undefined);
}

// An engine needs these to find executables, libraries, files and the user's language.
const PASSED_ON =
  'PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_DATA_HOME LD_LIBRARY_PATH ' +
  'DYLD_LIBRARY_PATH CUDA_VISIBLE_DEVICES SystemRoot windir PATHEXT APPDATA LOCALAPPDATA USERPROFILE TEMP TMP';

/** Returns the environment variables for an engine. They do not contain foley's API keys and tokens. */
export function engineEnvironment(env: LaunchOptions['env']): LaunchOptions['env'] {
  return Object.fromEntries(PASSED_ON.split(' ').map((name) => [name, env[name]]));
}
