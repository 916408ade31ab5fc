import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { EngineCommand } from '../../../contract/engine.ts';

export interface EngineEnd {
  readonly hasRun: boolean;
  /** In words, such as `ended with exit code 1`. */
  readonly how: string;
}

/** A running engine process, whatever it turns out to say. */
export interface EngineChild {
  /** Missing when it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. */
  readonly ended: Promise<EngineEnd>;
  /** Resolves when it and whatever it started have let go of stderr. */
  readonly silenced: Promise<void>;
  /** The end of what it wrote to stderr. */
  lastWords(): string;
  /** Whether this process has to wait for it. */
  keepAlive(isNeeded: boolean): void;
  /** Signals it and every process that it started. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** @throws Error when it cannot even be tried */
export type LaunchEngine = (command: EngineCommand) => EngineChild;

export interface LaunchOptions {
  /** Of this process; an engine gets only a few of its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command `node` means. */
  readonly nodePath: string;
}

/**
 * Starts engines without a shell. Each leads a process group of its own, so that what it starts ends
 * with it and a Ctrl-C in the terminal is for foley to handle.
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
    // Writing to an engine that has ended is no error of its own: its end is.
    child.stdin.on('error', () => undefined);
    const engine: EngineChild = {
      pid: child.pid,
      stdin: child.stdin,
      stdout: child.stdout,
      ended: endOf(child, `${command} in ${cwd}`),
      silenced: new Promise((resolve) => child.stderr.once('close', () => resolve())),
      lastWords: keepEnd(child.stderr),
      keepAlive: (isNeeded) => keepAlive(child, isNeeded),
      kill: (signal) => kill(child, signal),
    };
    engine.keepAlive(false);
    // An engine ends by itself when its stdin does; this is for one that does not.
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

const LAST_WORDS_BYTES = 4096;

function keepEnd(stderr: Readable): () => string {
  let end = Buffer.alloc(0);
  stderr.on('data', (bytes: Buffer) => {
    end = Buffer.concat([end, bytes]).subarray(-LAST_WORDS_BYTES);
  });
  return () => end.toString();
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
    // It ended just now.
  }
}

/** What programs need to be found, to find their files and to speak the user's language. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'CUDA_VISIBLE_DEVICES',
  'SystemRoot',
  'windir',
  'PATHEXT',
  'APPDATA',
  'LOCALAPPDATA',
  'USERPROFILE',
  'TEMP',
  'TMP',
] as const;

/**
 * The environment of an engine process: a short list of variables, so that no key and no token that
 * lies in the environment of foley reaches a program that somebody else wrote.
 */
export function engineEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}
