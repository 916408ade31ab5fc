import type { FSWatcher } from 'node:fs';
import { existsSync, watch } from 'node:fs';
import { readdir, rm, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { startFoley } from '../../harness/run-foley.ts';
import type { Running, RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';

export interface MortalBatch {
  readonly box: Sandbox;
  readonly env: Readonly<Record<string, string>>;
  /** Everything after `foley`. */
  readonly args: readonly string[];
  /** Folders whose changes are counted, if they exist. */
  readonly folders: readonly string[];
}

const TIMEOUT_MS = 600_000;

/**
 * Starts `foley batch`, and kills it with SIGKILL after this number of changes in the folders; `Infinity` for never.
 * Both the batch and the service make changes.
 * @returns its result, or `killed`
 */
export async function liveFor(
  { args, box, env, folders }: MortalBatch,
  moments: number,
): Promise<RunResult | 'killed'> {
  const running = await startFoley(args, { box, env, timeoutMs: TIMEOUT_MS });
  const watching = watchFolders(folders, killAfter(running, moments));
  const result = await running.done;
  for (const watcher of watching) watcher.close();
  return result.signal === 'SIGKILL' ? 'killed' : result;
}

function killAfter(running: Running, moments: number): () => void {
  let left = moments;
  return () => {
    left -= 1;
    if (left === 0) running.signal('SIGKILL');
  };
}

function watchFolders(folders: readonly string[], tick: () => void): readonly FSWatcher[] {
  const present = folders.filter((folder) => existsSync(folder));
  // The removal of a watched folder makes the watcher fail; that is not a change.
  return present.map((folder) => watch(folder, tick).on('error', () => undefined));
}

/** Returns the journal files of a batch, the newest last. */
async function journalFiles(folder: string): Promise<readonly string[]> {
  const journal = path.join(folder, '.foley', 'journal');
  const names = existsSync(journal) ? await readdir(journal) : [];
  return names.sort().map((name) => path.join(journal, name));
}

/** Cuts bytes off the end of the newest journal file, like a disk that lost them. */
export async function chopJournal(folder: string, bytes: number): Promise<void> {
  const newest = (await journalFiles(folder)).at(-1);
  if (newest === undefined) return;
  const { size } = await stat(newest);
  await truncate(newest, Math.max(0, size - bytes));
}

/** Removes every journal file. */
export async function deleteJournal(folder: string): Promise<void> {
  for (const file of await journalFiles(folder)) await rm(file);
}
