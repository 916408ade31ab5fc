import path from 'node:path';
import type { FileDeps } from '../../durable/files.ts';
import {
  removeQuietly,
  randomHex,
  writeAll,
  createTemporary,
  isTemporaryName,
} from '../../durable/files.ts';
import type { ProcessIdentity, Processes } from '../../effects/processes.ts';
import { Failure } from '../../errors/failure.ts';
import { UNSUPPORTED, hasErrno } from '../../durable/file-failures.ts';
import { parseIdentity } from '../../durable/log.ts';
import { readOwnFile, readOwnText, SMALL_FILE_BYTES } from '../../durable/own-files.ts';
import { display } from '../../text/display.ts';
import type { Shard } from '../plan/shard.ts';

export interface LockOptions extends FileDeps {
  readonly folder: string;
  readonly processes: Processes;
  readonly shard: Shard | undefined;
  /** Returns the time of the last journal record. Needed if foley cannot check the process that holds a lock. */
  readonly lastActivity: () => Promise<number | undefined>;
}

/** An acquired lock on a folder's batch or one shard. */
export interface Lock {
  readonly name: string;
  /** Whether another process runs another shard. */
  readonly hasOtherShards: boolean;
  release(): Promise<void>;
}

// If a process cannot be checked, it is assumed to run for this time after its last journal record.
const ASSUMED_RUNNING_MS = 60 * 60 * 1000;

/**
 * Locks the batch of a folder, or one shard of it. Shards with the same total, such as 1/4 and 3/4, may run at once.
 * @throws Failure (state) naming the process that holds the lock; file system errors
 */
export async function lockBatch(options: LockOptions): Promise<Lock> {
  const { folder, shard } = options;
  const name =
    shard === undefined || shard.total === 1 ? 'all' : `${shard.index}-of-${shard.total}`;
  const mark = randomHex(options, 8);
  const file = path.join(folder, name);
  await take(file, mark, options);
  try {
    return { name, hasOtherShards: await findOtherShards(name, options), release };
  } catch (error) {
    await release();
    throw error;
  }

  async function release(): Promise<void> {
    const held = await readLock(file, options).catch(() => undefined);
    if (held?.mark === mark) await removeQuietly(file, options);
  }
}

interface Held {
  readonly owner: ProcessIdentity | undefined;
  readonly mark: string | undefined;
}

async function take(file: string, mark: string, options: LockOptions): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await takeOnce(file, mark, options);
    } catch (error) {
      // Another process mistook our unfinished lock for that of a dead process.
      if (turn === MAX_TURNS || !hasErrno(error, 'ENOENT')) throw error;
    }
  }
}

async function takeOnce(file: string, mark: string, options: LockOptions): Promise<void> {
  const temporary = await createTemporary(options.folder, options, 0o600);
  try {
    try {
      const content = JSON.stringify({ owner: options.processes.self, mark });
      await writeAll(temporary.file, Buffer.from(content));
    } finally {
      await temporary.file.close();
    }
    await takeWith(temporary.path, file, options);
  } finally {
    await removeQuietly(temporary.path, options);
  }
}

// To replace the lock of a dead process, first takes a second lock, named after the random `mark` in the dead lock.
async function takeWith(written: string, file: string, options: LockOptions): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    if (await linked(written, file, options)) return;
    const held = await readLock(file, options);
    if (held === undefined) continue;
    if (turn > MAX_TURNS || !(await isStale(held, options))) throw lockedFailure(file, held);
    const second = `${file}.${held.mark ?? 'unmarked'}`;
    await takeWith(written, second, options);
    try {
      const now = await readLock(file, options);
      if (now !== undefined && now.mark === held.mark) {
        const next = `${file}.${randomHex(options, 6)}`;
        await linked(written, next, options);
        await options.files.rename(next, file);
        return;
      }
    } finally {
      await removeQuietly(second, options);
    }
  }
}

const MAX_TURNS = 5;

async function linked(from: string, to: string, { files }: LockOptions): Promise<boolean> {
  try {
    await files.link(from, to);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, ...UNSUPPORTED, 'EACCES')) throw error;
  }
  // This file system has no links. A copy that is incomplete for a moment counts as a lock without an owner.
  try {
    const handle = await files.open(to, 'wx', 0o600);
    await writeAll(handle, await readOwnFile(from, SMALL_FILE_BYTES, files)).finally(() =>
      handle.close(),
    );
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

// If another process has replaced the dead lock meanwhile, keeps the new lock.
async function clear(file: string, dead: Held, options: LockOptions): Promise<void> {
  const aside = `${file}.${randomHex(options, 6)}`;
  try {
    await options.files.rename(file, aside);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw error;
  }
  const moved = await readLock(aside, options);
  // A process whose unfinished lock disappears makes another one.
  const isMissed = moved?.mark !== dead.mark && !isTemporaryName(path.basename(file));
  if (isMissed) await linked(aside, file, options);
  await removeQuietly(aside, options);
}

async function findOtherShards(own: string, options: LockOptions): Promise<boolean> {
  let hasOtherShards = false;
  for (const name of await options.files.readdir(options.folder)) {
    if (name === own || (await sweepSecondLock(name, options))) continue;
    const file = path.join(options.folder, name);
    const held = await readLock(file, options);
    const isOver = held === undefined || (await isStale(held, options));
    // Other names are unfinished locks, or locks that are being removed.
    if (isOver && held !== undefined) await clear(file, held, options);
    if (isOver || !LOCK_NAME.test(name)) continue;
    if (!isOtherShard(own, name)) throw lockedFailure(file, held);
    hasOtherShards = true;
  }
  return hasOtherShards;
}

// Returns whether `name` is a second lock (see `takeWith`); removes it if the first lock is missing or has changed.
async function sweepSecondLock(name: string, options: LockOptions): Promise<boolean> {
  const [, lock, mark] = /^((?:all|\d+-of-\d+)(?:\.\w+)*)\.(\w+)$/.exec(name) ?? [];
  if (lock === undefined) return false;
  const held = await readLock(path.join(options.folder, lock), options);
  if (held === undefined || (held.mark ?? 'unmarked') !== mark) {
    await removeQuietly(path.join(options.folder, name), options);
  }
  return true;
}

const LOCK_NAME = /^(?:all|\d+-of-\d+)$/;

// Shards with the same total have no item in common.
function isOtherShard(a: string, b: string): boolean {
  const [totalA, totalB] = [a, b].map((name) => name.split('-of-')[1]);
  return totalA !== undefined && totalA === totalB;
}

async function readLock(file: string, { files }: LockOptions): Promise<Held | undefined> {
  let content: string;
  try {
    content = await readOwnText(file, SMALL_FILE_BYTES, files);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== 'object' || value === null) return NO_OWNER;
    const fields = new Map<string, unknown>(Object.entries(value));
    const mark = fields.get('mark');
    return {
      owner: parseIdentity(fields.get('owner')),
      mark: typeof mark === 'string' ? mark : undefined,
    };
  } catch {
    return NO_OWNER;
  }
}

const NO_OWNER: Held = { owner: undefined, mark: undefined };

async function isStale({ owner }: Held, options: LockOptions): Promise<boolean> {
  if (owner === undefined) return true;
  const { clock, lastActivity, processes } = options;
  const liveness = processes.liveness(owner);
  if (liveness !== 'unknown') return liveness === 'dead';
  const seen = await lastActivity();
  return seen === undefined || clock.now() - seen > ASSUMED_RUNNING_MS;
}

function lockedFailure(file: string, { owner }: Held): Failure {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  return new Failure(`another batch is running in this folder: ${display(who)}`, {
    code: 'state',
    exit: 'state',
    hint: `Wait until it ends; nothing was sent. If that process is certainly dead, remove ${display(file)}.`,
    details: owner === undefined ? undefined : { pid: owner.pid, host: owner.host },
  });
}
