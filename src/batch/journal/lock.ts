import path from 'node:path';
import { removeQuietly } from '../../durable/files.ts';
import { clearLock, isStale, readLock, takeLock } from '../../durable/lock.ts';
import type { ProcessIdentity } from '../../system/processes.ts';
import type { System } from '../../system/system.ts';
import { Failure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { Shard } from '../plan/shard.ts';

export interface LockOptions {
  readonly folder: string;
  readonly shard: Shard | undefined;
  /**
   * Returns when a journal file last changed, in milliseconds since the Unix epoch; undefined if no such file exists.
   * foley uses this time to recognize a stale lock when it cannot check the process that holds it.
   */
  readonly lastActivity: () => Promise<number | undefined>;
}

/** A lock that this process holds on the batch of an output folder, or on one shard of the batch. */
export interface Lock {
  readonly name: string;
  /** Whether other processes are running other shards of the batch. */
  readonly hasOtherShards: boolean;
  release(): Promise<void>;
}

/**
 * Locks the batch of a folder, or one shard of it. Shards with the same total, such as 1/4 and 3/4, may run at once.
 * @throws Failure of kind `state` naming the process that holds a conflicting lock
 * @throws the error of the file system if the lock cannot be read or written
 */
export async function lockBatch(system: System, options: LockOptions): Promise<Lock> {
  const { folder, lastActivity, shard } = options;
  const name =
    shard === undefined || shard.total === 1 ? 'all' : `${shard.index}-of-${shard.total}`;
  const release = await takeLock(system, path.join(folder, name), {
    lastActivity,
    lockedError: lockedFailure,
  });
  try {
    return { name, hasOtherShards: await findOtherShards(system, name, options), release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function findOtherShards(
  system: System,
  own: string,
  { folder, lastActivity }: LockOptions,
): Promise<boolean> {
  const { files } = system;
  let hasOtherShards = false;
  for (const name of await files.readdir(folder)) {
    if (name === own || (await sweepSecondLock(system, folder, name))) continue;
    const file = path.join(folder, name);
    const held = await readLock(file, files);
    const isOver = held === undefined || (await isStale(system, held, lastActivity));
    // Other names are unfinished locks, or locks that are being removed.
    if (isOver && held !== undefined) await clearLock(system, file, held);
    if (isOver || !LOCK_NAME.test(name)) continue;
    if (!isOtherShard(own, name)) throw lockedFailure(file, held?.owner);
    hasOtherShards = true;
  }
  return hasOtherShards;
}

// Returns whether `name` is a second lock (see `takeWith`); removes it if the first lock is missing or has changed.
async function sweepSecondLock(system: System, folder: string, name: string): Promise<boolean> {
  const [, lock, mark] = /^((?:all|\d+-of-\d+)(?:\.\w+)*)\.(\w+)$/.exec(name) ?? [];
  if (lock === undefined) return false;
  const held = await readLock(path.join(folder, lock), system.files);
  if (held === undefined || (held.mark ?? 'unmarked') !== mark) {
    await removeQuietly(system, path.join(folder, name));
  }
  return true;
}

const LOCK_NAME = /^(?:all|\d+-of-\d+)$/;

// Shards with the same total have no item in common.
function isOtherShard(a: string, b: string): boolean {
  const [totalA, totalB] = [a, b].map((name) => name.split('-of-')[1]);
  return totalA !== undefined && totalA === totalB;
}

function lockedFailure(file: string, owner: ProcessIdentity | undefined): Failure {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  return new Failure(`another batch is running in this folder: ${display(who)}`, {
    code: 'state',
    exit: 'state',
    hint: `Wait until it ends; nothing was sent. If that process is certainly dead, remove ${display(file)}.`,
    details: owner === undefined ? undefined : { pid: owner.pid, host: owner.host },
  });
}
