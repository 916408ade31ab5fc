import path from 'node:path';
import { readJsonFile } from '../config/json-file.ts';
import type { EngineRegistration } from '../contract/engine.ts';
import { checksumOf } from '../durable/checksum.ts';
import { hasErrno, outputFailure } from '../durable/file-failures.ts';
import { takeLock } from '../durable/lock.ts';
import { ensurePrivateFolder } from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';
import type { ProcessIdentity, Processes } from '../effects/processes.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import type { ModelDeps, ModelFile } from './download-models.ts';
import { missingFiles, storeFiles } from './download-models.ts';
import type { EngineDeps } from './engines.ts';
import { removeEngine } from './engines.ts';
import type { InstallDeps } from './install.ts';
import { installNaturalEngine } from './install.ts';
import type { EnginePart, NaturalEngineName } from './natural-engines.ts';
import { isInstalledIn, loadEngineRegistrations, registrationsFile } from './registrations.ts';

interface LockDeps extends Pick<ModelDeps, 'modelsFolder' | 'signal'>, Omit<EngineDeps, 'inspect'> {
  readonly processes: Processes;
  /** Called once if another command is adding or removing an engine. */
  readonly onWait: (pid: number | undefined) => void;
}

export interface NaturalEngineDeps extends InstallDeps, ModelDeps, LockDeps {
  readonly processes: Processes;
  /** Called with the size of the files before they are downloaded. */
  readonly onDownload: (bytes: number) => void;
  /** Called with the SHA-256 of a file for which the publisher gives an MD5 only. */
  readonly onRecord: (name: string, sha256: string) => void;
  /** Called when all files are stored, before npm runs. */
  readonly onInstall: () => void;
}

/**
 * Downloads the files of an engine, installs the engine, and adds it to the list after it has spoken. Waits while
 * another command does the same.
 * @throws Failure (usage) if the name belongs to a program of the user; see {@link storeFiles}
 */
export function addNaturalEngine(
  name: NaturalEngineName,
  parts: readonly EnginePart[],
  deps: NaturalEngineDeps,
): Promise<EngineRegistration> {
  return whileLocked(deps, async () => {
    await requireFreeName(name, deps);
    const recorded = await readChecksums(name, deps);
    const files = parts
      .flatMap((part) => part.files)
      .map((file) => ({ ...file, sha256: file.sha256 ?? recorded.get(file.path) }));
    const missing = await missingFiles(files, deps);
    deps.onDownload(missing.reduce((sum, { bytes }) => sum + bytes, 0));
    await storeFiles(missing, deps);
    const unknown = files.filter(({ sha256 }) => sha256 === undefined);
    if (unknown.length > 0) await recordChecksums(name, unknown, recorded, deps);
    deps.onInstall();
    return installNaturalEngine(name, path.join(deps.modelsFolder, name), deps);
  });
}

// SHA-256 of files for which the publisher gives an MD5 only, as they were at the first installation.
async function readChecksums(
  name: NaturalEngineName,
  { files, modelsFolder }: Pick<ModelDeps, 'files' | 'modelsFolder'>,
): Promise<ReadonlyMap<string, string>> {
  const content = await readJsonFile(files, checksumsFile(modelsFolder, name), 'refuse');
  const entries = Object.entries(content ?? {});
  return new Map(entries.flatMap(([file, sum]) => (typeof sum === 'string' ? [[file, sum]] : [])));
}

async function recordChecksums(
  name: NaturalEngineName,
  unknown: readonly ModelFile[],
  recorded: ReadonlyMap<string, string>,
  deps: NaturalEngineDeps,
): Promise<void> {
  const sums = new Map(recorded);
  for (const file of unknown) {
    const sum = await checksumOf(path.join(deps.modelsFolder, file.path), 'sha256', deps.files);
    sums.set(file.path, sum);
    deps.onRecord(path.basename(file.path), sum);
  }
  const data = Buffer.from(`${JSON.stringify(Object.fromEntries(sums), undefined, 2)}\n`);
  const file = checksumsFile(deps.modelsFolder, name);
  await replaceFile({ ...deps, path: file, data, mode: 0o600, flag: 'XDG_DATA_HOME' });
}

function checksumsFile(modelsFolder: string, name: NaturalEngineName): string {
  return path.join(modelsFolder, name, 'checksums.json');
}

/** Checks that the user has no engine of their own with this name. @throws Failure (usage) */
export async function requireFreeName(
  name: NaturalEngineName,
  deps: Pick<EngineDeps, 'enginesFolder' | 'files'>,
): Promise<void> {
  const engine = await findEngine(name, deps);
  if (engine === undefined || isInstalledIn(engine, deps.enginesFolder)) return;
  throw usageFailure(
    `the engine ${name} in your list runs a program of your own: ${engine.command}`,
    `Remove it from the list with \`foley engine remove ${name}\`, and run the command again.`,
  );
}

/**
 * Removes an engine from the list, and deletes its program, its model and its voices. Also deletes the files of an
 * installation that did not finish. Leaves the files of other engines.
 * @returns the engine, if it was in the list, and the deleted folders
 * @throws Failure (usage) if there is nothing to remove
 */
export function removeNaturalEngine(
  name: NaturalEngineName,
  deps: LockDeps,
): Promise<{
  readonly engine: EngineRegistration | undefined;
  readonly deleted: readonly string[];
}> {
  return whileLocked(deps, async () => {
    const engine = await findEngine(name, deps);
    const folder = path.join(deps.modelsFolder, name);
    const isOwn = engine !== undefined && !isInstalledIn(engine, deps.enginesFolder);
    const hasModels = !isOwn && (await isThere(folder, deps.files));
    if (engine === undefined && hasModels) {
      await deps.files.rm(folder, { recursive: true });
      return { engine, deleted: [folder] };
    }
    const removed = await removeEngine(name, deps);
    if (!hasModels) return removed;
    await deps.files.rm(folder, { recursive: true });
    return { engine: removed.engine, deleted: [...removed.deleted, folder] };
  });
}

async function findEngine(
  name: string,
  { enginesFolder, files }: Pick<EngineDeps, 'enginesFolder' | 'files'>,
): Promise<EngineRegistration | undefined> {
  const engines = await loadEngineRegistrations(files, registrationsFile(enginesFolder));
  return engines.find((engine) => engine.name === name);
}

async function isThere(file: string, files: FileSystem): Promise<boolean> {
  return files.lstat(file).then(
    () => true,
    () => false,
  );
}

class Locked extends Error {
  readonly pid: number | undefined;

  constructor(owner: ProcessIdentity | undefined) {
    super('another command is adding or removing an engine');
    this.pid = owner?.pid;
  }
}

function lockedError(_file: string, owner: ProcessIdentity | undefined): Locked {
  return new Locked(owner);
}

const WAIT_MS = 500;

async function whileLocked<T>(deps: LockDeps, work: () => Promise<T>): Promise<T> {
  const release = await waitForLock(deps);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function waitForLock(deps: LockDeps): Promise<() => Promise<void>> {
  const { clock, files, modelsFolder, onWait, signal } = deps;
  const lastActivity = (): Promise<number | undefined> => lastChange(modelsFolder, files);
  for (let turn = 1; ; turn += 1) {
    try {
      await ensurePrivateFolder(modelsFolder, files);
      return await takeLock(path.join(modelsFolder, 'lock'), {
        ...deps,
        lastActivity,
        lockedError,
      });
    } catch (error) {
      if (error instanceof Locked) {
        if (turn === 1) onWait(error.pid);
      } else {
        throw error instanceof Failure
          ? error
          : outputFailure(modelsFolder, error, 'opening', 'XDG_DATA_HOME');
      }
    }
    await clock.sleep(WAIT_MS, signal);
  }
}

/** Returns when the lock was taken, or a download last stored bytes, in milliseconds since the epoch. */
async function lastChange(folder: string, files: FileSystem): Promise<number | undefined> {
  const names = await files.readdir(folder, { recursive: true });
  const wanted = names.filter((name) => name === 'lock' || name.endsWith('.part'));
  const times = await Promise.all(
    wanted.map(async (name) => {
      try {
        return (await files.lstat(path.join(folder, name))).mtimeMs;
      } catch (error) {
        if (hasErrno(error, 'ENOENT')) return 0;
        throw error;
      }
    }),
  );
  return times.length === 0 ? undefined : Math.max(...times);
}
