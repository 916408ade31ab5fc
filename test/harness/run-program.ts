import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { assertNoCanary, knownHolders } from './canary.ts';
import { cleanEnvironment } from './environment.ts';
import { OutputRecord } from './output-record.ts';
import type { OutputName } from './output-record.ts';
import type { OutputTarget, Running, RunOptions, RunResult } from './run-options.ts';
import { createSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { requirePosix } from './posix.ts';
import { skipWithout } from './require-tool.ts';

const TIMEOUT_MS = 60_000;

type Child = ReturnType<typeof spawn>;
type Outputs = Readonly<Record<OutputName, OutputRecord>>;

/** Runs a program to its end. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const running = await startProgram(file, args, options);
  return running.done;
}

/** Starts a program in a sandbox with a clean environment; it is killed if the test ends first. */
export async function startProgram(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Running> {
  requireSignal(options.signalAt?.signal);
  const sandbox = options.sandbox ?? (await createSandbox());
  const known = await knownHolders(sandbox);
  const startedAt = performance.now();
  const files = [await openTarget(options.stdout), await openTarget(options.stderr)] as const;
  const child = spawn(file, args, sandbox, options, files);
  files.forEach((opened) => opened?.destroy());
  const outputs = {
    stdout: new OutputRecord('stdout', child.stdout ?? undefined, options.holdStdout === true),
    stderr: new OutputRecord('stderr', child.stderr ?? undefined, false),
  };
  const done = endOf(child, outputs, startedAt).then(async (end) => {
    const expectedIn = options.canaryExpectedIn ?? [];
    await assertNoCanary({ sandbox, known, expectedIn, ...end });
    const result = { ...end, stderr: end.stderr.toString(), sandbox };
    options.checkEnd?.(result);
    return result;
  });
  const end = endedWithTheTest(child, done);
  sendInput(child, options);
  const running = handle(child, sandbox, outputs, end);
  arrangeSignal(running, options.signalAt);
  return running;
}

/**
 * Ends the program with the test. A test that never asked how it ended still fails on a leak, so
 * `take` records that the test asked.
 */
function endedWithTheTest(
  child: Child,
  done: Promise<RunResult>,
): { take: () => Promise<RunResult> } {
  let isTaken = false;
  // A test may look only after other things failed; until then a rejection is not unhandled.
  done.catch(() => undefined);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await (isTaken ? done.catch(() => undefined) : done);
  });
  return {
    take: async () => {
      isTaken = true;
      return done;
    },
  };
}

function spawn(
  file: string,
  args: readonly string[],
  sandbox: Sandbox,
  options: RunOptions,
  [stdout, stderr]: readonly [WriteStream | undefined, WriteStream | undefined],
) {
  const hasInput = options.input !== undefined || options.keepInputOpen === true;
  return execa(file, args, {
    cwd: options.cwd ?? sandbox.out,
    env: cleanEnvironment(sandbox, options.env),
    extendEnv: false,
    stdin: hasInput ? 'pipe' : 'ignore',
    stdout: stdout ?? 'pipe',
    stderr: stderr ?? 'pipe',
    buffer: false,
    reject: false,
    encoding: 'buffer',
    timeout: options.timeoutMs ?? TIMEOUT_MS,
    killSignal: 'SIGKILL',
    ...sandbox.user,
  });
}

/** The program gets the file itself, not a pipe that we empty into it. */
async function openTarget(target: OutputTarget | undefined): Promise<WriteStream | undefined> {
  if (target === undefined || target === 'capture') {
    return undefined;
  }
  const file = createWriteStream(target.path);
  await once(file, 'open');
  return file;
}

async function endOf(child: Child, outputs: Outputs, startedAt: number) {
  const end = await child;
  await Promise.all([outputs.stdout.drain(), outputs.stderr.drain()]);
  const stdout = outputs.stdout.bytes;
  const stderr = outputs.stderr.bytes;
  if (end.timedOut || (end.exitCode === undefined && end.signal === undefined)) {
    const problem = end.timedOut ? `did not end in ${end.durationMs} ms` : 'could not be started';
    throw new Error(
      `${end.command} ${problem}; stdout: ${stdout.length} bytes, stderr:\n${stderr.toString()}`,
      {
        cause: end.cause,
      },
    );
  }
  const ms = performance.now() - startedAt;
  return { code: end.exitCode ?? null, signal: end.signal ?? null, stdout, stderr, ms };
}

function sendInput(child: Child, options: RunOptions): void {
  // The program may end before it has read everything; only what it does then matters.
  child.stdin?.on('error', () => undefined);
  if (options.input !== undefined) {
    child.stdin?.write(options.input);
  }
  if (options.keepInputOpen !== true) {
    child.stdin?.end();
  }
}

function arrangeSignal(running: Running, plan: RunOptions['signalAt']): void {
  if (plan === undefined) {
    return;
  }
  const moment = plan.when instanceof RegExp ? running.waitFor('stderr', plan.when) : plan.when;
  // When the moment never comes the program ends by itself, and the test sees that.
  moment.then(
    () => running.signal(plan.signal),
    () => undefined,
  );
}

function handle(
  child: Child,
  sandbox: Sandbox,
  outputs: Outputs,
  end: { take: () => Promise<RunResult> },
): Running {
  const pid = child.pid ?? 0;
  return {
    pid,
    sandbox,
    get done() {
      return end.take();
    },
    get stdout() {
      return outputs.stdout.bytes;
    },
    get stderr() {
      return outputs.stderr.bytes.toString();
    },
    waitFor: async (output, pattern) => outputs[output].waitFor(pattern),
    signal: (signal) => {
      requireSignal(signal);
      child.kill(signal);
    },
    write: (text) => void child.stdin?.write(text),
    endInput: () => void child.stdin?.end(),
    closeOutput: (output) => outputs[output].destroy(),
    resumeStdout: () => outputs.stdout.resume(),
    peakMemoryBytes: () => peakMemoryBytes(pid),
  };
}

/** Windows ends a process for any signal, and the process cannot react. */
function requireSignal(signal: NodeJS.Signals | undefined): void {
  if (signal !== undefined && signal !== 'SIGKILL') requirePosix('signals between processes');
}

function peakMemoryBytes(pid: number): number {
  if (process.platform !== 'linux') skipWithout('/proc/PID/status');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
