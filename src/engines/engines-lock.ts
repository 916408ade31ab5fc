import path from 'node:path';
import type { System } from '../system/system.ts';
import { takeLock } from '../durable/lock.ts';
import type { ProcessIdentity } from '../system/processes.ts';
import { makeFolder, stateFailure } from './registrations.ts';

export interface LockDeps {
  readonly system: System;
  /** The folder that contains the installed engines and `engines.json`. */
  readonly enginesFolder: string;
  /** The folder that contains the models of engines. */
  readonly modelsFolder: string;
  readonly signal: AbortSignal;
  /** Called once if foley must wait for another command that adds or removes an engine. */
  readonly onWait: (pid: number | undefined) => void;
}

class EnginesLocked extends Error {
  readonly pid: number | undefined;

  constructor(owner: ProcessIdentity | undefined) {
    super('another command is adding or removing an engine');
    this.pid = owner?.pid;
  }
}

function lockedError(_file: string, owner: ProcessIdentity | undefined): EnginesLocked {
  return new EnginesLocked(owner);
}

const WAIT_MS = 500;

/**
 * Takes the lock for adding and removing engines, and runs `work`. Waits while another command holds the lock.
 * @throws Failure of kind `state` if the lock cannot be taken; on abort, the signal's abort reason
 */
export async function whileLocked<T>(deps: LockDeps, work: () => Promise<T>): Promise<T> {
  const release = await waitForLock(deps);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function waitForLock(deps: LockDeps): Promise<() => Promise<void>> {
  const { clock, files } = deps.system;
  const { enginesFolder, onWait, signal } = deps;
  const lock = path.join(enginesFolder, 'lock');
  const lastActivity = (): Promise<number> => lastChange(lock, deps);
  for (let turn = 1; ; turn += 1) {
    await makeFolder(enginesFolder, files);
    try {
      return await takeLock(deps.system, lock, { lastActivity, lockedError });
    } catch (error) {
      if (!(error instanceof EnginesLocked)) throw stateFailure(error, enginesFolder);
      if (turn === 1) onWait(error.pid);
    }
    await clock.sleep(WAIT_MS, signal);
  }
}

// A running download changes its partial file.
async function lastChange(
  lock: string,
  { system: { files }, modelsFolder }: LockDeps,
): Promise<number> {
  const names = await files.readdir(modelsFolder, { recursive: true }).catch((): string[] => []);
  const parts = names.filter((name) => name.endsWith('.part'));
  const times = [lock, ...parts.map((name) => path.join(modelsFolder, name))].map((file) =>
    files.lstat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}
