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
  /** Where the locks are; it is there. */
  readonly folder: string;
  readonly processes: Processes;
  /** Without one, everything is locked. */
  readonly shard: Shard | undefined;
  /** When the batch of somebody of whom nothing can be known was last seen at work. */
  readonly lastNote: () => Promise<number | undefined>;
}

/** The right to work on a folder's batch, or on one share of it. */
export interface Lock {
  readonly name: string;
  /** Whether somebody else works on another share. */
  readonly hasNeighbours: boolean;
  release(): Promise<void>;
}

/** How long after its last note a batch is believed to run of whose process nothing can be known. */
const BELIEVED_MS = 60 * 60 * 1000;

/**
 * Locks the batch of a folder, or a share of it: shares of the same division may run at once. The lock only
 * saves work: that nothing is paid for twice is the keys' part. Throws the system's error.
 * @throws Failure (state) naming the process that has it
 */
export async function lockBatch(options: LockOptions): Promise<Lock> {
  const name = lockName(options.shard);
  const mark = randomHex(options, 8);
  const file = path.join(options.folder, name);
  await take(file, mark, options);
  try {
    return { name, hasNeighbours: await findNeighbours(name, options), release };
  } catch (error) {
    await release();
    throw error;
  }

  async function release(): Promise<void> {
    const held = await readLock(file, options).catch(() => undefined);
    if (held?.mark === mark) await removeQuietly(file, options);
  }
}

/** The name of a share's lock. */
export function lockName(shard: Shard | undefined): string {
  return shard === undefined || shard.total === 1 ? 'all' : `${shard.index}-of-${shard.total}`;
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
      // Somebody took what was about to become our lock for what a dead process left.
      if (turn === MOST_TURNS || !hasErrno(error, 'ENOENT')) throw error;
    }
  }
}

async function takeOnce(file: string, mark: string, options: LockOptions): Promise<void> {
  const { files, folder, processes } = options;
  const temporary = await createTemporary(folder, options, 0o600);
  try {
    try {
      await writeAll(temporary.file, Buffer.from(JSON.stringify({ owner: processes.self, mark })));
    } finally {
      await temporary.file.close();
    }
    await takeWith(temporary.path, file, options);
  } finally {
    await removeQuietly(temporary.path, { ...options, files });
  }
}

/**
 * Gives what is written in `written` the name of the lock, if nobody has it who may still work. Of those
 * who find the lock of a dead process the one may replace it who gets the name made of the dead one's
 * mark, which is a lock like any other; meanwhile the mark cannot change.
 */
async function takeWith(written: string, file: string, options: LockOptions): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    if (await linked(written, file, options)) return;
    const held = await readLock(file, options);
    if (held === undefined) continue;
    if (turn > MOST_TURNS || !(await isLeft(held, options))) throw lockedFailure(file, held);
    const right = `${file}.${held.mark ?? 'unmarked'}`;
    await takeWith(written, right, options);
    try {
      const now = await readLock(file, options);
      if (now !== undefined && now.mark === held.mark) {
        await replace(written, file, options);
        return;
      }
    } finally {
      await removeQuietly(right, options);
    }
  }
}

/** Another name for the same file, under a name that is taken. */
async function replace(written: string, file: string, options: LockOptions): Promise<void> {
  const next = `${file}.${randomHex(options, 6)}`;
  await linked(written, next, options);
  await options.files.rename(next, file);
}

const MOST_TURNS = 5;

async function linked(from: string, to: string, { files }: LockOptions): Promise<boolean> {
  try {
    await files.link(from, to);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, ...UNSUPPORTED, 'EACCES')) throw error;
  }
  // No links here: a copy that is not whole for a moment belongs to nobody, and is not believed to.
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

/** Takes away what a dead process left beside our lock; of two that try, one moves the other's fresh one back. */
async function clear(file: string, dead: Held, options: LockOptions): Promise<void> {
  const aside = `${file}.${randomHex(options, 6)}`;
  try {
    await options.files.rename(file, aside);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw error;
  }
  const moved = await readLock(aside, options);
  // Who misses what was about to become a lock makes another one.
  const isMissed = moved?.mark !== dead.mark && !isTemporaryName(path.basename(file));
  if (isMissed) await linked(aside, file, options);
  await removeQuietly(aside, options);
}

async function findNeighbours(own: string, options: LockOptions): Promise<boolean> {
  let hasNeighbours = false;
  for (const name of await options.files.readdir(options.folder)) {
    if (name === own || (await sweepRight(name, options))) continue;
    const file = path.join(options.folder, name);
    const held = await readLock(file, options);
    const isOver = held === undefined || (await isLeft(held, options));
    // What is no lock is one that was about to become one, or was taken away.
    if (isOver && held !== undefined) await clear(file, held, options);
    if (isOver || !LOCK_NAME.test(name)) continue;
    if (!mayWorkBeside(own, name)) throw lockedFailure(file, held);
    hasNeighbours = true;
  }
  return hasNeighbours;
}

/** Whether it is the right to replace a lock, which goes as soon as there is no such lock to replace. */
async function sweepRight(name: string, options: LockOptions): Promise<boolean> {
  const [, lock, mark] = /^((?:all|\d+-of-\d+)(?:\.\w+)*)\.(\w+)$/.exec(name) ?? [];
  if (lock === undefined) return false;
  const held = await readLock(path.join(options.folder, lock), options);
  if (held === undefined || (held.mark ?? 'unmarked') !== mark) {
    await removeQuietly(path.join(options.folder, name), options);
  }
  return true;
}

const LOCK_NAME = /^(?:all|\d+-of-\d+)$/;

/** Two different shares of one division have no item in common. */
function mayWorkBeside(a: string, b: string): boolean {
  const [totalA, totalB] = [a, b].map((name) => name.split('-of-')[1]);
  return totalA !== undefined && totalA === totalB;
}

/** Undefined when it is gone by now. */
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
    if (typeof value !== 'object' || value === null) return NOBODY;
    const fields = new Map<string, unknown>(Object.entries(value));
    const mark = fields.get('mark');
    return {
      owner: parseIdentity(fields.get('owner')),
      mark: typeof mark === 'string' ? mark : undefined,
    };
  } catch {
    return NOBODY;
  }
}

const NOBODY: Held = { owner: undefined, mark: undefined };

/** Whether nobody works under a lock any more. */
async function isLeft({ owner }: Held, options: LockOptions): Promise<boolean> {
  if (owner === undefined) return true;
  const { clock, lastNote, processes } = options;
  const liveness = processes.liveness(owner);
  if (liveness !== 'unknown') return liveness === 'dead';
  const seen = await lastNote();
  return seen === undefined || clock.now() - seen > BELIEVED_MS;
}

function lockedFailure(file: string, { owner }: Held): Failure {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  return new Failure(`another batch works in this folder: ${display(who)}`, {
    code: 'state',
    exit: 'state',
    hint: `Wait until it has ended; nothing was sent. If it is certain that it does not run any more, remove ${display(file)}.`,
    details: owner === undefined ? undefined : { pid: owner.pid, host: owner.host },
  });
}
