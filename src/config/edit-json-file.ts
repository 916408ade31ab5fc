import { constants } from 'node:fs';
import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { Failure } from '../errors/failure.ts';
import type { FileDeps } from '../files/file-deps.ts';
import {
  ensurePrivateFolder,
  openOwnFile,
  readOwnFile,
  SMALL_FILE_BYTES,
} from '../files/own-files.ts';
import { replaceFile } from '../files/replace-file.ts';
import type { JsonObject } from './json-file.ts';
import { readJsonFile } from './json-file.ts';

/** What a change may do; a key may be a path with dots. */
export interface JsonStore {
  set(key: string, value: unknown): void;
  delete(key: string): void;
}

/**
 * Changes a JSON file of the user's. Afterwards only its owner can read it (0600, its folder 0700).
 * A file that cannot be understood is left as it is.
 * @throws Failure: config for a file that is broken, state when it cannot be written
 */
export async function editJsonFile(
  file: string,
  deps: FileDeps,
  change: (store: JsonStore, content: JsonObject) => void,
): Promise<void> {
  const { files } = deps;
  const content = await readJsonFile(files, file, 'follow');
  try {
    const before =
      content === undefined
        ? undefined
        : await readOwnFile(file, SMALL_FILE_BYTES, files, 'follow');
    await closeFolder(path.dirname(file), files);
    change(await openStore(file), content ?? {});
    await requireWhole(file, deps, before);
    await closeFile(file, files);
  } catch (error) {
    throw error instanceof Failure ? error : unwritable(file, error);
  }
}

/** The person's own folder may be a link, as the folders of dotfile managers are. */
async function closeFolder(folder: string, files: FileSystem): Promise<void> {
  await files.mkdir(folder, { recursive: true, mode: 0o700 });
  await ensurePrivateFolder(await files.realpath(folder), files);
}

async function closeFile(file: string, files: FileSystem): Promise<void> {
  const handle = await openOwnFile(file, constants.O_RDONLY, files, 'follow');
  await handle.chmod(0o600).finally(() => handle.close());
}

/** `conf` is loaded only here: it costs a whole start-up, and what only reads does without it. */
async function openStore(file: string): Promise<JsonStore> {
  const { default: Conf } = await import('conf');
  return new Conf<Record<string, unknown>>({
    cwd: path.dirname(file),
    configName: path.basename(file, '.json'),
    configFileMode: 0o600,
    clearInvalidConfig: false,
    serialize: (value) => `${JSON.stringify(value, null, 2)}\n`,
    deserialize: (text) => {
      const value: Record<string, unknown> = JSON.parse(text.replace(/^\ufeff/, ''));
      return value;
    },
  });
}

/** On a full disk `conf` takes a part of a file for the whole: then the older one is put back. */
async function requireWhole(
  file: string,
  deps: FileDeps,
  before: Uint8Array | undefined,
): Promise<void> {
  try {
    if ((await readJsonFile(deps.files, file, 'follow')) !== undefined) return;
  } catch (error) {
    if (before === undefined) await deps.files.rm(file, { force: true });
    else await replaceFile({ ...deps, path: file, data: before, mode: 0o600 });
    throw unwritable(file, error);
  }
  throw unwritable(file, new Error('it is not there after it was written'));
}

function unwritable(file: string, cause: unknown): Failure {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new Failure(`${file} cannot be written${code}; what was in it is kept`, {
    code: 'state',
    exit: 'state',
    hint: 'Check the permissions and the space of its folder.',
    cause,
  });
}
