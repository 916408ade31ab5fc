import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { RerunOptions } from '../../src/batch/run/batch-options.ts';
import type { Liveness, ProcessIdentity, Processes } from '../../src/system/processes.ts';

/** Creates a folder that is removed after the test. */
export async function newFolder(): Promise<string> {
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const folder = await mkdtemp(path.join(base, 'foley-batch-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The options of a first run that replaces no file of others. */
export function rerunIn(outputDir: string, outputFlag = '--output-dir'): RerunOptions {
  return { outputDir, outputFlag, overwrite: false, retriesFailed: false, isRedone: () => false };
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, host: 'host', bootId: 'b', pidNamespace: 'n', processStart: `${pid}` };
}

/** @param fates the state of other processes; by default alive */
export function processesOf(
  pid: number,
  fates: ReadonlyMap<number, Liveness> = new Map(),
): Processes {
  return {
    self: identityOf(pid),
    liveness: (other) => fates.get(other.pid) ?? 'alive',
  };
}
