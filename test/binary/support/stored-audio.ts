import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import type { BatchSandbox } from '../batch/batch-sandbox.ts';
import type { Fixture } from './fixture.ts';

/** Speaks `hi` with `--reuse` and returns the document. */
export async function speakReusing(
  fixture: Fixture,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const result = await fixture.speak(['--reuse', '--json', '--quiet', ...more], { env });
  expect(result.code, result.stderr).toBe(0);
  return { ...Object(parseJsonDocument(result.stdout)), stderr: result.stderr };
}

/** Runs a command against the service of a batch. */
export async function runBeside(
  { sandbox, service }: BatchSandbox,
  args: readonly string[],
): Promise<RunResult> {
  const result = await runFoley(args, { sandbox, env: service.env });
  expect(result.code, result.stderr).toBe(0);
  return result;
}

/** Returns the folder in which `--reuse` stores audio. */
export function storeOf({ state }: Sandbox): string {
  return path.join(state, 'foley', 'reuse');
}

/** Returns the paths of the stored files. */
export async function storedFiles(sandbox: Sandbox): Promise<readonly string[]> {
  const names = await readdir(storeOf(sandbox)).catch((): string[] => []);
  return names.map((name) => path.join(storeOf(sandbox), name));
}

/** Returns the path of the only stored file. */
export async function onlyStored(sandbox: Sandbox): Promise<string> {
  const [file = '', ...others] = await storedFiles(sandbox);
  expect(others).toEqual([]);
  return file;
}
