import path from 'node:path';
import { parseJson } from '../api/response.ts';
import { readJsonFile } from '../config/json-file.ts';
import type { EngineRegistration } from '../contract/engine.ts';
import { checksumOf } from '../durable/checksum.ts';
import { outputFailure } from '../durable/file-failures.ts';
import { removeQuietly } from '../durable/files.ts';
import { ensurePrivateFolder, readOwnText } from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';
import type { FileSystem } from '../system/file-system.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import type { ModelDeps, ModelFile } from './download-models.ts';
import { missingFiles, storeFiles } from './download-models.ts';
import type { EngineDeps } from './engines.ts';
import { removeListed } from './engines.ts';
import type { LockDeps } from './engines-lock.ts';
import { whileLocked } from './engines-lock.ts';
import type { InstallDeps } from './install.ts';
import { installNaturalEngine } from './install.ts';
import type { EnginePart, NaturalEngineName } from './natural-engines.ts';
import { optionalPackages } from './natural-engines.ts';
import { PIPER_DESCRIPTION, requireKnownSymbols } from './piper-catalogue.ts';
import { isInstalledIn, loadEngineRegistrations, registrationsFile } from './registrations.ts';
import { SMALL_BYTES } from './small-source.ts';

export interface NaturalEngineDeps extends InstallDeps, ModelDeps {
  /** Called before the download, with the total size of the missing files in bytes. */
  readonly onDownload: (bytes: number) => void;
  /** Called with the computed SHA-256 of each file for which the publisher gives only an MD5. */
  readonly onRecord: (name: string, sha256: string) => void;
  /** Called after all model files are stored, before npm installs packages. */
  readonly onInstall: () => void;
}

/**
 * Downloads the files of an engine, installs the engine, tests that it can speak, and adds it to the list of engines.
 * Waits while another command adds or removes an engine.
 * @throws Failure of kind `usage` if an engine of the user has this name; see also {@link storeFiles}
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
    await ensurePrivateFolder(deps.modelsFolder, deps.system.files).catch((error: unknown) => {
      throw outputFailure(deps.modelsFolder, error, 'opening', 'XDG_DATA_HOME');
    });
    deps.onDownload(missing.reduce((sum, { bytes }) => sum + bytes, 0));
    await storeChecked(files, missing, deps);
    const unknown = files.filter(({ sha256 }) => sha256 === undefined);
    if (unknown.length > 0) await recordChecksums(name, unknown, recorded, deps);
    deps.onInstall();
    const folder = path.join(deps.modelsFolder, name);
    return installNaturalEngine(name, folder, optionalPackages(parts), deps);
  });
}

/** Returns the names of the voices of Kokoro that are stored. */
export async function storedVoices(
  name: NaturalEngineName,
  { system: { files }, modelsFolder }: NaturalEngineDeps,
): Promise<readonly string[]> {
  const found = await files.readdir(path.join(modelsFolder, name, 'voices')).catch(() => []);
  return found.filter((file) => file.endsWith('.bin')).map((file) => path.basename(file, '.bin'));
}

// Stores the descriptions of voices first, so that a voice that cannot speak is refused before its model is downloaded.
async function storeChecked(
  wanted: readonly ModelFile[],
  missing: readonly ModelFile[],
  deps: NaturalEngineDeps,
): Promise<void> {
  const descriptions = missing.filter((file) => isDescription(file));
  await storeFiles(descriptions, deps);
  for (const file of wanted.filter((one) => isDescription(one))) {
    const stored = path.join(deps.modelsFolder, file.path);
    try {
      const text = await readOwnText(stored, SMALL_BYTES, deps.system.files);
      requireKnownSymbols(path.basename(stored, PIPER_DESCRIPTION), parseJson(text));
    } catch (error) {
      if (descriptions.includes(file)) await removeQuietly(deps.system, stored);
      throw error instanceof Failure
        ? error
        : outputFailure(stored, error, 'opening', 'XDG_DATA_HOME');
    }
  }
  const before = descriptions.reduce((sum, { bytes }) => sum + bytes, 0);
  const rest = missing.filter((file) => !isDescription(file));
  await storeFiles(rest, deps, before);
}

function isDescription(file: ModelFile): boolean {
  return file.path.endsWith(PIPER_DESCRIPTION);
}

// SHA-256 of files for which the publisher gives an MD5 only, as they were at the first installation.
async function readChecksums(
  name: NaturalEngineName,
  { system: { files }, modelsFolder }: ModelDeps,
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
    const sum = await checksumOf(
      path.join(deps.modelsFolder, file.path),
      'sha256',
      deps.system.files,
    );
    sums.set(file.path, sum);
    deps.onRecord(path.basename(file.path), sum);
  }
  const data = Buffer.from(`${JSON.stringify(Object.fromEntries(sums), undefined, 2)}\n`);
  const file = checksumsFile(deps.modelsFolder, name);
  await replaceFile(deps.system, {
    path: file,
    data,
    mode: 0o600,
    flag: 'XDG_DATA_HOME',
  });
}

function checksumsFile(modelsFolder: string, name: NaturalEngineName): string {
  return path.join(modelsFolder, name, 'checksums.json');
}

/** Checks that none of the user's own engines has this name. @throws Failure of kind `usage` */
export async function requireFreeName(name: NaturalEngineName, deps: EngineDeps): Promise<void> {
  const engine = await findEngine(name, deps);
  if (engine === undefined || isInstalledIn(engine, deps.enginesFolder)) return;
  throw usageFailure(
    `the name ${name} is already used by an engine that you added: ${engine.command}`,
    `Remove it from the list with \`foley engine remove ${name}\`, and run the command again.`,
  );
}

/**
 * Removes an engine from the list of engines, and deletes the program, model and voices that foley installed for it. An
 * unfinished installation can also be removed.
 * @returns the deleted folders, and the engine (undefined if it was not in the list)
 * @throws Failure of kind `usage` if there is nothing to remove
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
    const hasModels = !isOwn && (await isThere(folder, deps.system.files));
    if (engine === undefined && hasModels) {
      await deps.system.files.rm(folder, { recursive: true });
      return { engine, deleted: [folder] };
    }
    const removed = await removeListed(name, deps);
    if (!hasModels) return removed;
    await deps.system.files.rm(folder, { recursive: true });
    return { engine: removed.engine, deleted: [...removed.deleted, folder] };
  });
}

async function findEngine(
  name: string,
  { enginesFolder, system: { files } }: LockDeps,
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
