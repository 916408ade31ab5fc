import { usageFailure } from '../errors/failure.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { closest } from '../text/did-you-mean.ts';
import type { Account } from './accounts.ts';
import { readAccounts, toAccountsFile } from './accounts.ts';
import { editJsonFile } from './edit-json-file.ts';
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
