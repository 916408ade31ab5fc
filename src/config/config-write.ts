import { constants } from 'node:fs';
import path from 'node:path';
import type { FileDeps } from '../durable/files.ts';
import {
  ensurePrivateFolder,
  openOwnFile,
  readOwnFile,
  SMALL_FILE_BYTES,
} from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure, Failure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import type { Account } from './accounts.ts';
import { readAccounts, toAccountsFile } from './accounts.ts';
import type { JsonObject } from './json-file.ts';
import { readJsonFile } from './json-file.ts';
import type { SettingName } from './setting-definitions.ts';
import { isSettingName, SETTING_NAMES, SETTINGS } from './setting-definitions.ts';

/**
 * Writes a setting into the user's file (`foley config set`).
 * @param given as it stands on the command line
 * @throws Failure: usage for a name or value that may not be, config, state
 */
export async function setSetting(
  file: string,
  name: string,
  given: string,
  deps: FileDeps,
): Promise<void> {
  const known = requireSetting(name);
  const { allowed, read } = SETTINGS[known];
  if (read(given) === undefined) throw usageFailure(`${name} is "${given}"; it takes ${allowed}`);
  await editJsonFile(file, deps, (store) => store.set(known, stored(known, given)));
}

/** Takes a setting out of the user's file (`foley config unset`). Throws as above. */
export async function unsetSetting(file: string, name: string, deps: FileDeps): Promise<void> {
  const known = requireSetting(name);
  await editJsonFile(file, deps, (store) => store.delete(known));
}

/**
 * Stores an account with its key, in place of one of the same name (`foley auth login`).
 * @throws Failure: config for a file that is broken, state when it cannot be written
 */
export async function saveAccount(
  file: string,
  account: Account,
  deps: FileDeps,
  options: { readonly makeCurrent: boolean },
): Promise<void> {
  const { all, current } = await readAccounts(deps.files, file);
  const next = toAccountsFile({
    current: options.makeCurrent ? account.name : current,
    all: new Map([...all, [account.name, account]]),
  });
  await replaceAll(file, next, deps);
}

/**
 * Forgets an account and its key (`foley auth logout`); says whether there was one.
 * @throws Failure as above
 */
export async function removeAccount(file: string, name: string, deps: FileDeps): Promise<boolean> {
  const { all, current } = await readAccounts(deps.files, file);
  if (!all.has(name)) return false;
  const left = new Map([...all].filter(([other]) => other !== name));
  const next = toAccountsFile({ current: current === name ? undefined : current, all: left });
  await replaceAll(file, next, deps);
  return true;
}

function replaceAll(
  file: string,
  { accounts, current }: ReturnType<typeof toAccountsFile>,
  deps: FileDeps,
): Promise<void> {
  return editJsonFile(file, deps, (store) => {
    store.set('accounts', accounts);
    if (current === undefined) store.delete('current');
    else store.set('current', current);
  });
}

function requireSetting(name: string): SettingName {
  if (isSettingName(name)) return name;
  const [nearest] = closest(name, SETTING_NAMES, 1);
  throw usageFailure(
    `there is no setting "${name}"`,
    nearest === undefined
      ? `The settings are ${SETTING_NAMES.join(', ')}.`
      : `Did you mean "${nearest}"?`,
  );
}

/** Numbers are written as such; a duration keeps its unit. */
function stored(name: SettingName, given: string): string | number {
  const isNumber = typeof SETTINGS[name].read(given) === 'number';
  return isNumber && Number.isFinite(Number(given)) ? Number(given) : given;
}

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
  throw unwritable(file, new Error('it is missing after the write'));
}

function unwritable(file: string, cause: unknown): Failure {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new Failure(`${file} cannot be written${code}; it is unchanged`, {
    code: 'state',
    exit: 'state',
    hint: 'Check the permissions and free space of its folder.',
    cause,
  });
}
