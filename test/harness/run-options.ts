import type { OutputName } from './output-record.ts';
import type { Sandbox } from './sandbox.ts';

/** Where an output goes: kept for the test, or straight into a file or device such as `/dev/full`. */
export type OutputTarget = 'capture' | { readonly path: string };

export interface RunOptions {
  /** Defaults to a fresh one. */
  readonly sandbox?: Sandbox;
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes for stdin, which is then closed. Without it stdin is the null device. */
  readonly input?: string | Uint8Array;
  /** Stdin is a pipe that stays open after `input`, until `endInput()`. */
  readonly keepInputOpen?: boolean;
  /** Defaults to the sandbox's `out`. */
  readonly cwd?: string;
  /** After this long the program is killed and the test fails with what it had written. */
  readonly timeoutMs?: number;
  readonly stdout?: OutputTarget;
  readonly stderr?: OutputTarget;
  /** Nothing is read from stdout until `resumeStdout()`: the slow reader of a pipe. */
  readonly holdStdout?: boolean;
  /** Sends a signal when stderr matches, or when the promise resolves. */
  readonly signalAt?: { readonly signal: NodeJS.Signals; readonly when: RegExp | Promise<unknown> };
  /** Compiled code is kept in the sandbox; by default all tests share what V8 compiled. */
  readonly ownCode?: boolean;
  /** Called with what the program printed. An error fails the test. */
  readonly checkEnd?: (end: Pick<RunResult, 'signal' | 'stderr' | 'stdout'>) => void;
  /** Outputs that show a canary key because the test's own service sent it as data. */
  readonly canaryExpectedIn?: readonly OutputName[];
}

export interface RunResult {
  /** The exit code, or null when a signal ended the program. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly ms: number;
  readonly sandbox: Sandbox;
}

/** A program that was started and may still run. */
export interface Running {
  readonly pid: number;
  readonly sandbox: Sandbox;
  /** What has arrived so far. */
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Waits until an output matches; rejects when the output ends without. */
  waitFor(output: OutputName, pattern: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  write(text: string | Uint8Array): void;
  endInput(): void;
  /** Closes our end of the pipe, as `head` does when it has enough. */
  closeOutput(output: OutputName): void;
  resumeStdout(): void;
  /** The largest resident size so far, in bytes; on Linux only, and only while it runs. */
  peakMemoryBytes(): number;
  /** Resolves when the program has ended and its outputs are closed; fails on a canary leak. */
  readonly done: Promise<RunResult>;
}
