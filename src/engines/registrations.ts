import path from 'node:path';
import { readJsonFile } from '../config/json-file.ts';
import type { EngineList, EngineRegistration } from '../contract/engine.ts';
import { errnoOf, hasErrno } from '../durable/file-failures.ts';
import type { System } from '../system/system.ts';
import { replaceFile } from '../durable/publish.ts';
import type { FileSystem } from '../system/file-system.ts';
import { configFailure, Failure } from '../errors/failure.ts';

/** Returns the path of the file that lists the added engines. */
export function registrationsFile(enginesFolder: string): string {
  return path.join(enginesFolder, 'engines.json');
}

/**
 * Returns the engines in the list of added engines; an empty list if the file does not exist.
 * @param file path that `registrationsFile` returned
 * @throws Failure: `config` for an invalid file, `state` if a newer version of foley wrote the file
 */
export async function loadEngineRegistrations(
  files: FileSystem,
  file: string,
): Promise<readonly EngineRegistration[]> {
  const content = await readJsonFile(files, file, 'refuse');
  if (content === undefined) return [];
  const { engines } = await valid(content, file);
  const names = engines.map(({ name }) => name);
  const twin = names.find((name, index) => names.indexOf(name) !== index);
  if (twin !== undefined) throw broken(`${file} has two engines named ${twin}`);
  return engines;
}

/**
 * Saves the list of added engines.
 * @throws like `replaceFile`
 */
export async function saveEngineRegistrations(
  file: string,
  engines: readonly EngineRegistration[],
  deps: System,
): Promise<void> {
  const list: EngineList = { version: 1, engines: [...engines] };
  await makeFolder(path.dirname(file), deps.files);
  const data = Buffer.from(`${JSON.stringify(list, undefined, 2)}\n`);
  await replaceFile(deps, { path: file, data, mode: 0o600 });
}

async function valid(content: object, file: string): Promise<EngineList> {
  const { Check, EngineList: Schema, Errors } = await import('./engine-list-schema.ts');
  if (Check(Schema, content)) return content;
  if ('version' in content && Number(content.version) > 1) {
    throw new Failure(`${file} was written by a newer foley`, {
      code: 'state',
      exit: 'state',
      hint: 'Update foley.',
    });
  }
  const [, [first]] = Errors(Schema, content);
  const problem = `${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim();
  throw broken(`${file} is not a valid list of engines: ${problem}`);
}

function broken(message: string): Failure {
  return configFailure(
    message,
    'Fix the file, or delete it and add the engines again with `foley engine add`.',
  );
}

/** Creates a folder that only the user can open, with its parent folders. @throws Failure of kind `state` */
export async function makeFolder(folder: string, files: FileSystem): Promise<void> {
  try {
    await files.mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw stateFailure(error, folder);
  }
}

/** Converts a system error to a Failure that names the engines folder. Returns other errors unchanged. */
export function stateFailure(error: unknown, folder: string): unknown {
  const code = errnoOf(error);
  if (error instanceof Failure || code === undefined) return error;
  return new Failure(`cannot store engines in ${folder} (${code})`, {
    code: 'state',
    exit: 'state',
    hint: 'Check the permissions of the folder and the free disk space.',
    cause: error,
  });
}

/**
 * Deletes all installations of an engine, complete or not, except the one in the folder `keep`.
 * @returns the deleted folders
 * @throws Failure of kind `state`
 */
export async function removeInstalled(
  name: string,
  files: FileSystem,
  enginesFolder: string,
  keep?: string,
): Promise<string[]> {
  try {
    const found = (await files.readdir(enginesFolder))
      .filter((one) => isInstalled(one, name))
      .map((one) => path.join(enginesFolder, one))
      .filter((folder) => folder !== keep);
    for (const folder of found) await files.rm(folder, { recursive: true, force: true });
    return found;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure(error, enginesFolder);
  }
}

/** Returns whether foley installed the engine. Only then may foley delete the engine's program. */
export function isInstalledIn(
  { cwd, name }: Pick<EngineRegistration, 'cwd' | 'name'>,
  enginesFolder: string,
): boolean {
  return path.dirname(cwd) === enginesFolder && isInstalled(path.basename(cwd), name);
}

/**
 * Returns the disk space, in bytes, of an engine and its models; undefined if foley did not install the engine.
 * @param folders the folder of the installed engines, and the folder of the models
 */
export async function installedBytes(
  engine: EngineRegistration,
  files: FileSystem,
  [engines, models]: readonly [engines: string, models: string],
): Promise<number | undefined> {
  if (!isInstalledIn(engine, engines)) return undefined;
  const folders = [engine.cwd, path.join(models, engine.name)];
  const sizes = await Promise.all(folders.map((folder) => folderBytes(folder, files)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function folderBytes(folder: string, files: FileSystem): Promise<number> {
  const names = await files.readdir(folder, { recursive: true }).catch((): string[] => []);
  const stats = await Promise.all(
    names.map((name) => files.lstat(path.join(folder, name)).catch(() => undefined)),
  );
  return stats.reduce((sum, one) => sum + (one?.isFile() === true ? one.size : 0), 0);
}

function isInstalled(folder: string, name: string): boolean {
  return folder.startsWith(`${name}.`) && /^[0-9a-f]{16}$/.test(folder.slice(name.length + 1));
}
