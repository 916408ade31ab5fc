import type { FSWatcher } from 'node:fs';
import { existsSync, watch } from 'node:fs';
import { expect } from 'vitest';
import { readBooks } from '../../binary/support/books.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startFoley } from '../../harness/run-foley.ts';
import type { Running, RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';

export const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
export const TIMEOUT_MS = IS_FULL ? 3_600_000 : 300_000;

/** All faults of a response, and failing jobs. */
export const FAULTS = [
  'POST /**/jobs; status=503; every=7',
  'POST /**/jobs; reset-after=0; every=5',
  'POST /**/jobs; job=fail; every=9',
  'GET /**/jobs/*; status=500; every=11',
  'GET /**/jobs/*; truncate=20; every=8',
  'GET /**/audio; reset-after=900; every=5',
  'GET /**/audio; truncate=700; every=4',
  '* /**; delay=20ms; every=6',
];

/** The exit codes of a run that is not killed: 3 and the codes of failed items; 32 while another run is active. */
export const ENDINGS = [0, 3, 20, 23, 24, 25, 26, 32];

export interface MortalBatch {
  readonly sandbox: Sandbox;
  readonly env: Readonly<Record<string, string>>;
  /** Everything after `foley`. */
  readonly args: readonly string[];
  /** Folders whose changes are counted, if they exist. */
  readonly folders: readonly string[];
}

const RUN_TIMEOUT_MS = 600_000;

/**
 * Starts `foley batch`, and kills it with SIGKILL after this number of changes in the folders; `Infinity` for never.
 * Both the batch and the service make changes.
 * @returns its result, or `killed`
 */
export async function liveFor(
  { args, sandbox, env, folders }: MortalBatch,
  moments: number,
): Promise<RunResult | 'killed'> {
  const running = await startFoley(args, { sandbox, env, timeoutMs: RUN_TIMEOUT_MS });
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

/** Checks the books of an ended service: this number of items was charged, each once. */
export async function expectPaidOnce({
  dataDir,
  items,
}: {
  readonly dataDir: string;
  readonly items: number;
}): Promise<void> {
  const { faults, operations } = await readBooks(dataDir);
  expect(faults).toEqual([]);
  const charged = operations.filter(({ state }) => state === 'completed');
  expect(charged).toHaveLength(items);
  for (const { commits, spent } of charged) expect([commits, spent > 0]).toEqual([1, true]);
  for (const { spent, state } of operations) if (state !== 'completed') expect(spent).toBe(0);
}

/** Ends a service. */
export async function endService({ running }: ServingFoley): Promise<void> {
  running.signal('SIGTERM');
  await running.done;
}

/** Runs the batch until no item fails. */
export async function endBy(batch: MortalBatch): Promise<void> {
  await expect
    .poll(() => liveFor(batch, Infinity), { timeout: TIMEOUT_MS })
    .toMatchObject({ code: 0 });
}
