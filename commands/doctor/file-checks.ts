import { constants } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../src/cli/context.ts';
import { readAccounts } from '../../src/config/accounts.ts';
import { closeToOthers, octal, openToOthers } from '../../src/config/secret-file.ts';
import { listSettings } from '../../src/config/settings.ts';
import { hasErrno } from '../../src/files/errno.ts';
import { reasonOf } from '../../src/files/errno-reasons.ts';
import { createTemporary } from '../../src/files/temporary.ts';
import type { Check, Finding } from './finding.ts';
import { ok, problem, warning } from './finding.ts';

/** Settings of the environment, the project and the user are all what they may be. */
export const settingsCheck: Check = {
  name: 'settings',
  async look(context) {
    const sources = await context.settings();
    listSettings(sources);
    const files = [sources.project, sources.user].flatMap((source) => source?.file ?? []);
    return [ok(files.length === 0 ? 'only defaults' : `read from ${files.join(' and ')}`)];
  },
};

/** The file with the keys can be understood, and nobody else can read it. */
export const accountsCheck: Check = {
  name: 'accounts',
  async look(context) {
    const { accountsFile, config } = await context.paths();
    const { all } = await readAccounts(context.files, accountsFile);
    const names = [...all.keys()];
    const opened = all.size === 0 ? undefined : await closeToOthers(accountsFile, context);
    const folderMode = await openToOthers(config, context);
    return [
      ok(names.length === 0 ? 'none is stored' : `stored: ${names.join(', ')}`),
      ...(opened === undefined ? [] : [warning(opened)]),
      ...(folderMode === undefined
        ? []
        : [
            warning(`others can look into ${config} (${octal(folderMode)})`, `chmod 700 ${config}`),
          ]),
    ];
  },
};

/** The folders of foley can be written, or made. */
export const foldersCheck: Check = {
  name: 'folders',
  async look(context) {
    const { cache, config, state } = await context.paths();
    const findings = [];
    for (const folder of [config, state, cache]) findings.push(await lookAtFolder(context, folder));
    return findings;
  },
};

/** Foley's own records can be read. */
export const recordsCheck: Check = {
  name: 'records',
  async look(context) {
    const { findDamaged } = await import('../find-leftovers.ts');
    const damaged = await findDamaged(context);
    if (damaged.length === 0) return [ok('all can be read')];
    return damaged.map(({ holds, paths: [where] }) =>
      problem(
        `${where} is unreadable: it holds ${holds}`,
        '`foley recover --list` shows it; `foley recover --forget ID` removes it.',
      ),
    );
  },
};

async function lookAtFolder(context: Context, folder: string): Promise<Finding> {
  try {
    if (!(await exists(context, folder))) return await lookAtParent(context, folder);
    const probe = await createTemporary(folder, context, 0o600);
    await probe.file.close();
    await context.files.unlink(probe.path);
    return ok(`${folder} can be written`);
  } catch (error) {
    return unwritable(folder, error);
  }
}

/** A folder that is not there yet: whether it could be made. */
async function lookAtParent(context: Context, folder: string): Promise<Finding> {
  let parent = path.dirname(folder);
  while (!(await exists(context, parent)) && path.dirname(parent) !== parent) {
    parent = path.dirname(parent);
  }
  await context.files.access(parent, constants.W_OK | constants.X_OK);
  return ok(`${folder} will be made when it is needed`);
}

async function exists({ files }: Context, folder: string): Promise<boolean> {
  try {
    await files.stat(folder);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

function unwritable(folder: string, error: unknown): Finding {
  return problem(
    `${folder} cannot be written: ${reasonOf(error, path.dirname(folder))}`,
    'Make it writable, or choose others with XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME.',
  );
}
