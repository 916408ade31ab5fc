import path from 'node:path';
import { readJsonFile } from '../config/json-file.ts';
import type { EngineList, EngineRegistration } from '../contract/engine.ts';
import { errnoOf, hasErrno } from '../durable/file-failures.ts';
import type { FileDeps } from '../durable/files.ts';
import { replaceFile } from '../durable/publish.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { configFailure, Failure } from '../errors/failure.ts';

/** Where the added engines are written down, in the folder of the engines. */
export function registrationsFile(enginesFolder: string): string {
  return path.join(enginesFolder, 'engines.json');
}

/**
 * The engines that were added; none when there is no such file.
 * @param file `registrationsFile` of the engines' folder
 * @throws Failure: config for a file that is broken, state for one of a newer foley
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
  if (twin !== undefined) throw broken(file, `has two engines with the name ${twin}`);
  return engines;
}

/** Writes the engines down. Throws as `replaceFile` does. */
export async function saveEngineRegistrations(
  file: string,
  engines: readonly EngineRegistration[],
  deps: FileDeps,
): Promise<void> {
  const list: EngineList = { version: 1, engines: [...engines] };
  await makeFolder(path.dirname(file), deps.files);
  const data = Buffer.from(`${JSON.stringify(list, undefined, 2)}\n`);
  await replaceFile({ ...deps, path: file, data, mode: 0o600 });
}

async function valid(content: object, file: string): Promise<EngineList> {
  const [{ Check, Errors }, { EngineList: Schema }] = await Promise.all([
    import('typebox/schema'),
    import('../contract/engine.ts'),
  ]);
  if (Check(Schema, content)) return content;
  if ('version' in content && Number(content.version) > 1) {
    throw new Failure(`${file} was written by a newer foley`, {
      code: 'state',
      exit: 'state',
      hint: 'Use the newer foley.',
    });
  }
  const [, [first]] = Errors(Schema, content);
  throw broken(
    file,
    `is not a list of engines: ${first?.instancePath ?? ''} ${first?.message ?? ''}`,
  );
}

function broken(file: string, what: string): Failure {
  return configFailure(
    `${file} ${what.trim()}`,
    'Mend it, or remove it and add the engines again with `foley engine add`.',
  );
}

/**
 * Makes a folder of foley's own, and those above it, where they are missing.
 * @throws Failure (state)
 */
export async function makeFolder(folder: string, files: Pick<FileSystem, 'mkdir'>): Promise<void> {
  try {
    await files.mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw stateFailure(error, folder);
  }
}

/** What the system said of the folder of the engines; any other error as it is. */
export function stateFailure(error: unknown, folder: string): unknown {
  const code = errnoOf(error);
  if (error instanceof Failure || code === undefined) return error;
  return new Failure(`engines cannot be kept in ${folder} (${code})`, {
    code: 'state',
    exit: 'state',
    hint: 'Check its permissions and the space there.',
    cause: error,
  });
}

export interface InstalledOptions {
  readonly files: Pick<FileSystem, 'readdir' | 'rm'>;
  readonly enginesFolder: string;
  /** A folder that stays. */
  readonly keep?: string | undefined;
}

/**
 * Deletes every folder that foley installed an engine in, those that an interruption left included.
 * @returns the folders that were deleted
 * @throws Failure (state)
 */
export async function removeInstalled(
  name: string,
  { files, enginesFolder, keep }: InstalledOptions,
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

function isInstalled(folder: string, name: string): boolean {
  return folder.startsWith(`${name}.`) && /^[0-9a-f]{16}$/.test(folder.slice(name.length + 1));
}
