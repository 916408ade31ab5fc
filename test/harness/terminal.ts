import { spawnSync } from 'node:child_process';
import { cleanEnvironment } from './environment.ts';
import { findOnPath, skipWithout } from './require-tool.ts';
import { FOLEY, requireBuild } from './run-foley.ts';
import type { OutputTarget, Running, RunOptions } from './run-options.ts';
import { startProgram } from './run-program.ts';
import { createSandbox } from './sandbox.ts';
import { TESTED_NODE } from './tested-node.ts';

export interface TerminalOptions extends Omit<RunOptions, 'input' | 'stdout' | 'stderr'> {
  readonly columns?: number;
  readonly rows?: number;
  /** Sends this output somewhere else than to the terminal. */
  readonly stdout?: OutputTarget;
  readonly stderr?: OutputTarget;
  /** Takes stdin from this file instead of from the terminal. */
  readonly stdin?: { readonly path: string };
}

/** Which programs can make a pseudo-terminal; native addons are not needed for it. */
export type TerminalDriver = 'script' | 'python3';

/** Waits for the child and passes on how it ended, a signal as a shell shows it. */
const PYTHON = `
import os, pty, sys
status = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:]))
sys.exit(status if status >= 0 else 128 - status)
`;

/**
 * Starts `foley` on a pseudo-terminal. All that the terminal shows arrives in `stdout`, with CR LF
 * line ends and an echo of what is written; answer prompts with `waitFor` and `write`, where `\r`
 * is the Enter key and `\x03` is Ctrl-C. A signal's death is shown as 128 + its number.
 */
export async function startInTerminal(
  args: readonly string[],
  options: TerminalOptions = {},
  driver?: TerminalDriver,
): Promise<Running> {
  requireBuild();
  return startProgramInTerminal(TESTED_NODE, [FOLEY, ...args], options, driver);
}

/** The same for any program, on the first driver there is or on a given one. */
export async function startProgramInTerminal(
  file: string,
  args: readonly string[],
  options: TerminalOptions = {},
  driver: TerminalDriver = availableDrivers()[0] ?? skipWithout('script or python3'),
): Promise<Running> {
  const { columns, rows, stdin, stdout, stderr, ...rest } = options;
  const sandbox = options.sandbox ?? (await createSandbox());
  const command = [
    `stty cols ${columns ?? 80} rows ${rows ?? 24};`,
    'exec',
    ...[file, ...args].map((word) => quote(word)),
    stdin === undefined ? '' : `< ${quote(stdin.path)}`,
    redirect('1>', stdout),
    redirect('2>', stderr),
  ].join(' ');
  const run = { ...rest, sandbox, keepInputOpen: true };
  if (driver === 'script') {
    const env = {
      ...cleanEnvironment(sandbox, options.env),
      TERM: 'xterm-256color',
      SHELL: '/bin/sh',
    };
    return startProgram('script', ['-qec', command, '/dev/null'], { ...run, env });
  }
  const env = { ...cleanEnvironment(sandbox, options.env), TERM: 'xterm-256color' };
  return startProgram('python3', ['-c', PYTHON, '/bin/sh', '-c', command], { ...run, env });
}

/** The drivers that work here: BSD's `script` has other options and does not count. */
export function availableDrivers(): TerminalDriver[] {
  const drivers: TerminalDriver[] = [];
  if (findOnPath('script') !== undefined && versionOf('script').includes('util-linux')) {
    drivers.push('script');
  }
  if (versionOf('python3').startsWith('Python 3')) {
    drivers.push('python3');
  }
  return drivers;
}

/** Asked in an environment like that of the tests, where a shim of a version manager may fail. */
function versionOf(program: string): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' };
  return spawnSync(program, ['--version'], { env, encoding: 'utf8' }).stdout ?? '';
}

function redirect(operator: string, target: OutputTarget | undefined): string {
  return target === undefined || target === 'capture' ? '' : `${operator} ${quote(target.path)}`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
