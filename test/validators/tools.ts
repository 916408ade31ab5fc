import { fileURLToPath } from 'node:url';
import { startProgram } from '../harness/run-program.ts';
import type { Running } from '../harness/run-options.ts';

/** The programs of this folder's own package, by the file that they begin with. */
const TOOLS = {
  attw: 'node_modules/@arethetypeswrong/cli/dist/index.js',
  prism: 'node_modules/@stoplight/prism-cli/dist/index.js',
  redocly: 'node_modules/@redocly/cli/bin/cli.js',
} as const;

/** Turns their telemetry off. */
const SILENT = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Starts one of the public tools in a sandbox; it is killed if the test ends first. */
export async function startTool(
  tool: keyof typeof TOOLS,
  args: readonly string[],
  cwd: string,
): Promise<Running> {
  const file = fileURLToPath(new URL(TOOLS[tool], import.meta.url));
  return startProgram(process.execPath, [file, ...args], { cwd, env: SILENT });
}
