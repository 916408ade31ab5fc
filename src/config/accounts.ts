import type { FileSystem } from '../system/file-system.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import { isObject, readJsonFile } from './json-file.ts';
import { constants } from 'node:fs';
import { hasErrno } from '../durable/file-failures.ts';
import { openOwnFile } from '../durable/own-files.ts';
import { display } from '../text/display.ts';
import type { System } from '../system/system.ts';

/** A stored account: an API key and the only URLs that may receive it. */
export interface Account {
  readonly name: string;
  readonly baseUrl: string;
  readonly realtimeUrl: string | undefined;
  readonly apiKey: string;
}

export interface Accounts {
  /** The name of the account that foley uses without `--account`. */
  readonly current: string | undefined;
  readonly all: ReadonlyMap<string, Account>;
}

export const NO_ACCOUNTS: Accounts = { current: undefined, all: new Map() };

/**
 * Reads the stored accounts. If the file is missing, returns no accounts.
 * @throws Failure of kind `config` if the file is invalid; messages never contain an API key
 */
export async function readAccounts(files: FileSystem, file: string): Promise<Accounts> {
  const content = await readJsonFile(files, file, 'follow');
  if (content === undefined) return NO_ACCOUNTS;
  const { accounts, current } = content;
  if (!isObject(accounts) || (current !== undefined && typeof current !== 'string')) {
    throw unusable(file, 'is not a list of accounts');
  }
  const all = new Map(
    Object.entries(accounts).map(([name, fields]) => [name, readAccount(name, fields, file)]),
  );
  if (current !== undefined && !all.has(current)) {
    throw unusable(file, `names the current account "${current}", which does not exist`);
  }
  return { current, all };
}

/**
 * Returns the account with the given name. Without a name, returns the current account. If no account is current,
 * returns the only stored account.
 * @throws Failure of kind `usage` for an unknown name
 */
export function selectAccount(accounts: Accounts, name?: string): Account | undefined {
  if (name === undefined) {
    const [only, second] = accounts.all.values();
    if (accounts.current !== undefined) return accounts.all.get(accounts.current);
    return second === undefined ? only : undefined;
  }
  const account = accounts.all.get(name);
  if (account !== undefined) return account;
  const names = [...accounts.all.keys()];
  const stored = `Stored: ${names.length === 0 ? 'none' : names.join(', ')}`;
  const hint = `${stored}. \`foley auth login --account ${name}\` adds it.`;
  throw usageFailure(
    `--account is "${name}", but no such account is stored`,
    nearestHint(name, names, hint),
  );
}

/** Returns the JSON content of `accounts.json`. */
export function toAccountsFile({ all, current }: Accounts): Record<string, unknown> {
  const accounts = Object.fromEntries(
    [...all.values()].map(({ name, baseUrl, realtimeUrl, apiKey }) => [
      name,
      { baseUrl, ...(realtimeUrl === undefined ? {} : { realtimeUrl }), apiKey },
    ]),
  );
  return { ...(current === undefined ? {} : { current }), accounts };
}

function readAccount(name: string, fields: unknown, file: string): Account {
  if (!isObject(fields)) throw unusable(file, `has no data for the account "${name}"`);
  const { apiKey, baseUrl, realtimeUrl } = fields;
  if (typeof baseUrl !== 'string') throw unusable(file, `has no "baseUrl" for "${name}"`);
  if (typeof apiKey !== 'string') throw unusable(file, `has no "apiKey" for "${name}"`);
  if (realtimeUrl !== undefined && typeof realtimeUrl !== 'string') {
    throw unusable(file, `has a "realtimeUrl" for "${name}" that is not a URL`);
  }
  return { name, baseUrl, realtimeUrl, apiKey };
}

function unusable(file: string, what: string): Error {
  return configFailure(`${file} ${what}`, 'Fix the file, or remove it and run `foley auth login`.');
}

/** Formats permission bits, such as `0644`. */
export function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`;
}

/**
 * Returns the permission bits of a file or folder that other users can access. Returns undefined if only the owner can
 * access it. Also returns undefined on Windows and for a missing file.
 */
export async function sharedPermissions(
  { files, platform }: System,
  path: string,
): Promise<number | undefined> {
  if (platform === 'win32') return undefined;
  try {
    const { mode } = await files.stat(path);
    return (mode & 0o077) === 0 ? undefined : mode & 0o777;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined;
    throw error;
  }
}

/**
 * Makes a file with API keys private to its owner.
 * @returns a warning if other users could access the file; otherwise undefined
 * @throws Failure of kind `config` if the permissions of the file cannot be changed
 */
export async function makePrivate(system: System, file: string): Promise<string | undefined> {
  const mode = await sharedPermissions(system, file);
  if (mode === undefined) return undefined;
  const keysFile = display(file);
  const permissions = octal(mode);
  try {
    const handle = await openOwnFile(file, constants.O_RDONLY, system.files, 'follow');
    await handle.chmod(0o600).finally(() => handle.close());
  } catch {
    throw configFailure(
      `${keysFile} contains API keys and is readable by others (${permissions}), and foley cannot change its permissions`,
      'Run chmod 600 on the file, or use FOLEY_API_KEY instead.',
    );
  }
  return `${keysFile} contains API keys and was readable by others (${permissions}); foley made it private. Replace the keys if someone may have read them.`;
}
