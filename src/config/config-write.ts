import { constants } from 'node:fs';
import path from 'node:path';
import type { System } from '../system/system.ts';
import {
  ensurePrivateFolder,
  openOwnFile,
  readOwnFile,
  SMALL_FILE_BYTES,
} from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';
import { usageFailure, Failure } from '../errors/failure.ts';
import type { Account, Accounts } from './accounts.ts';
import { readAccounts, toAccountsFile } from './accounts.ts';
import { readJsonFile } from './json-file.ts';
import { isSettingName, settingNamed, SETTINGS } from './setting-definitions.ts';

/**
 * Writes a setting to the user's settings file (`foley config set`).
 * @param given the value as the user typed it
 * @throws Failure of kind `usage` for an unknown name or an invalid value
 * @throws Failure of kind `config` if the file is invalid
 * @throws Failure of kind `state` if the file cannot be written
 */
export async function setSetting(
  file: string,
  name: string,
  given: string,
  deps: System,
): Promise<void> {
  const known = settingNamed(name);
  const { allowed, read } = SETTINGS[known];
  const value = read(given);
  if (value === undefined) throw usageFailure(`${name} is "${given}"; it takes ${allowed}`);
  // Numbers and truth values are stored as such; a duration and a size keep their unit.
  const isNumber = typeof value === 'number' && Number.isFinite(Number(given));
  const stored = isNumber ? Number(given) : typeof value === 'boolean' ? value : given;
  await editJsonFile(file, deps, (store) => {
    if (hasParent(known)) store.store = { ...store.store, [known]: stored };
    else store.set(known, stored);
  });
}

// `reuse.maxSize` is not nested in `reuse`, which is a setting, too.
function hasParent(name: string): boolean {
  return isSettingName(name.split('.')[0] ?? '') && name.includes('.');
}

/**
 * Removes a setting from the user's settings file (`foley config unset`).
 * @throws the same errors as `setSetting`
 */
export async function unsetSetting(file: string, name: string, deps: System): Promise<void> {
  const known = settingNamed(name);
  await editJsonFile(file, deps, (store) => {
    if (!hasParent(known)) return store.delete(known);
    const { [known]: _, ...rest } = store.store;
    store.store = rest;
  });
}

/**
 * Stores an account with its API key, or replaces the account that has this name (`foley auth login`).
 * @throws Failure of kind `config` if the file is invalid
 * @throws Failure of kind `state` if the file cannot be written
 */
export async function saveAccount(
  file: string,
  account: Account,
  deps: System,
  { makeCurrent }: { readonly makeCurrent: boolean },
): Promise<void> {
  const { all, current } = await readAccounts(deps.files, file);
  await replaceAccounts(file, deps, {
    current: makeCurrent ? account.name : current,
    all: new Map([...all, [account.name, account]]),
  });
}

/**
 * Removes an account and its API key (`foley auth logout`).
 * @returns whether the account existed
 * @throws the same errors as `saveAccount`
 */
export async function removeAccount(file: string, name: string, deps: System): Promise<boolean> {
  const { all, current } = await readAccounts(deps.files, file);
  if (!all.has(name)) return false;
  await replaceAccounts(file, deps, {
    current: current === name ? undefined : current,
    all: new Map([...all].filter(([other]) => other !== name)),
  });
  return true;
}

function replaceAccounts(file: string, deps: System, next: Accounts): Promise<void> {
  const { accounts, current } = toAccountsFile(next);
  return editJsonFile(file, deps, (store) => {
    store.set('accounts', accounts);
    if (current === undefined) store.delete('current');
    else store.set('current', current);
  });
}

// Makes the file private (0600, its folder 0700). Leaves an invalid file unchanged.
async function editJsonFile(
  file: string,
  deps: System,
  change: (store: Awaited<ReturnType<typeof openStore>>) => void,
): Promise<void> {
  const { files } = deps;
  const exists = (await readJsonFile(files, file, 'follow')) !== undefined;
  try {
    const before = exists ? await readOwnFile(file, SMALL_FILE_BYTES, files, 'follow') : undefined;
    const folder = path.dirname(file);
    await files.mkdir(folder, { recursive: true, mode: 0o700 });
    // Dotfile managers replace the folder with a link.
    await ensurePrivateFolder(await files.realpath(folder), files);
    change(await openStore(file));
    await requireValid(file, deps, before);
    const handle = await openOwnFile(file, constants.O_RDONLY, files, 'follow');
    await handle.chmod(0o600).finally(() => handle.close());
  } catch (error) {
    throw error instanceof Failure ? error : unwritable(file, error);
  }
}

// `conf` is loaded only for writing: loading it takes as long as starting foley.
async function openStore(file: string) {
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

// On a full disk, `conf` can leave a truncated file behind; the previous one is then restored.
async function requireValid(
  file: string,
  deps: System,
  before: Uint8Array | undefined,
): Promise<void> {
  try {
    if ((await readJsonFile(deps.files, file, 'follow')) !== undefined) return;
  } catch (error) {
    if (before === undefined) await deps.files.rm(file, { force: true });
    else await replaceFile(deps, { path: file, data: before, mode: 0o600 });
    throw unwritable(file, error);
  }
  throw unwritable(file, new Error('the file is missing after the write'));
}

function unwritable(file: string, cause: unknown): Failure {
  const errorCode = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new Failure(`${file} cannot be written${errorCode}; the file is unchanged`, {
    code: 'state',
    exit: 'state',
    hint: 'Check the permissions and free space of the folder.',
    cause,
  });
}
