import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOutput } from './check-output.ts';
import type { Running, RunOptions, RunResult } from './run-options.ts';
import { startProgram } from './run-program.ts';
import { createSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { TESTED_NODE } from './tested-node.ts';

/** The built command, exactly as it is installed. */
export const FOLEY = fileURLToPath(new URL('../../bin/foley.cjs', import.meta.url));
const SHARED_CODE = fileURLToPath(new URL('../../node_modules/.cache/foley-code', import.meta.url));
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
  const sandbox = options.sandbox ?? (await createSandbox());
  if (options.ownCode !== true) await shareCode(sandbox);
  return startProgram(TESTED_NODE, [FOLEY, ...args], {
    ...options,
    sandbox,
    checkEnd: (end) => checkOutput(args, end),
  });
}

/** Lets the commands of a sandbox use what V8 compiled for those of all others: a third of a short run. */
async function shareCode({ cache, user }: Sandbox): Promise<void> {
  const code = path.join(cache, 'foley', 'code');
  // Another user may not use what is not his.
  if (user !== undefined || existsSync(code)) return;
  await mkdir(SHARED_CODE, { recursive: true, mode: 0o700 });
  await mkdir(path.dirname(code), { recursive: true, mode: 0o700 });
  // Another start of this sandbox may have made it meanwhile.
  await symlink(SHARED_CODE, code).catch(() => undefined);
}

/** A sentence rather than forty failures when the tests are run on an unbuilt tree. */
export function requireBuild(): void {
  if (!existsSync(FOLEY) || !existsSync(BUILD)) {
    throw new Error('There is no build to test: run `npm run build` first.');
  }
}
