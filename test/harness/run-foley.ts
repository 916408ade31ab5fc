import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Running, RunOptions, RunResult } from './run-options.ts';
import { startProgram } from './run-program.ts';
import { TESTED_NODE } from './tested-node.ts';

/** The built command, exactly as it is installed. */
export const FOLEY = fileURLToPath(new URL('../../bin/foley.cjs', import.meta.url));
const BUILD = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));

/** Runs the built `foley` to its end in a sandbox, with a clean environment. */
export async function runFoley(
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const running = await startFoley(args, options);
  return running.done;
}

/** Starts the built `foley`: for signals, prompts, closed pipes and `serve`. */
export async function startFoley(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Running> {
  requireBuild();
  return startProgram(TESTED_NODE, [FOLEY, ...args], options);
}

/** A sentence rather than forty failures when the tests are run on an unbuilt tree. */
export function requireBuild(): void {
  if (!existsSync(FOLEY) || !existsSync(BUILD)) {
    throw new Error('There is no build to test: run `npm run build` first.');
  }
}
