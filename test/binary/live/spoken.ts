import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunOptions, RunResult } from '../../harness/run-options.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { ScriptedServer } from '../../realtime/scripted-server.ts';

/** Returns the environment for a command with a scripted realtime host. */
export function scripted(
  server: ScriptedServer,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { FOLEY_BASE_URL: server.baseUrl, FOLEY_API_KEY: server.key, ...more };
}

/** A voice and a model, so that the command looks nothing up. */
export const WHO = ['-v', 'voice-1', '-m', 'vendor-s21pro-flash'] as const;

export const REQUEST_ID = 'request-1';

/** Runs `foley live` with a known request id against a scripted server. */
export async function live(
  server: ScriptedServer,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return runFoley(['live', ...WHO, '--request-id', REQUEST_ID, ...args], {
    // Only a very busy machine needs this long.
    timeoutMs: 110_000,
    ...options,
    env: scripted(server, options.env),
  });
}

/** Reads a file in the sandbox of a command. */
export async function made({ sandbox }: RunResult, name: string): Promise<Buffer> {
  return readFile(path.join(sandbox.out, name));
}
