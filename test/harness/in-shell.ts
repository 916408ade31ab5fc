import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cleanEnvironment, withPath } from './environment.ts';
import { requireTool } from './require-tool.ts';
import { FOLEY, requireBuild } from './run-foley.ts';
import type { RunOptions, RunResult } from './run-options.ts';
import { runProgram } from './run-program.ts';
import { createSandbox } from './sandbox.ts';
import { TESTED_NODE } from './tested-node.ts';
import { requirePosix } from './posix.ts';

export interface ShellResult extends RunResult {
  /** What every command of the last pipeline ended with; empty when the shell itself was ended. */
  readonly pipeStatus: readonly number[];
}

/**
 * Runs a bash script with `foley` on PATH, as a person types it: `foley tts hi | head -c 10`. The
 * exit code is the last command's. Where there is no bash the test is skipped.
 */
export async function inShell(script: string, options: RunOptions = {}): Promise<ShellResult> {
  requirePosix('programs that begin with #!');
  requireTool('bash');
  requireBuild();
  const sandbox = options.sandbox ?? (await createSandbox());
  // `exec`, so that the pid and the signals that the shell sees are foley's own.
  const shim = `#!/bin/sh\nexec '${TESTED_NODE}' '${FOLEY}' "$@"\n`;
  await writeFile(path.join(sandbox.harness, 'foley'), shim, { mode: 0o755 });
  return runInShell(script, { ...options, sandbox });
}

/** The same without `foley`; what the sandbox's harness folder holds is on PATH. */
export async function runInShell(script: string, options: RunOptions = {}): Promise<ShellResult> {
  requirePosix('programs that begin with #!');
  const bash = requireTool('bash');
  const sandbox = options.sandbox ?? (await createSandbox());
  const notes = path.join(sandbox.harness, 'pipe-status');
  await writeFile(notes, '', { mode: 0o666 });
  const environment = withPath(cleanEnvironment(sandbox, options.env), sandbox.harness);
  const result = await runProgram(bash, ['-c', withNotes(script)], {
    ...options,
    sandbox,
    env: { ...environment, PIPE_STATUS_NOTES: notes },
  });
  const words = (await readFile(notes, 'utf8')).split(' ').filter((word) => word !== '');
  return { ...result, pipeStatus: words.map(Number) };
}

function withNotes(script: string): string {
  return `${script}
__statuses=("\${PIPESTATUS[@]}")
printf '%s ' "\${__statuses[@]}" > "$PIPE_STATUS_NOTES"
exit "\${__statuses[\${#__statuses[@]}-1]}"`;
}
