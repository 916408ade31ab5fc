import { constants } from 'node:fs';
import path from 'node:path';
import { engines as supported } from '../../package.json';
import { redactUrl } from '../../src/api/redact.ts';
import { proxyFor } from '../../src/api/transport/proxy.ts';
import type { Context } from '../../src/cli/command.ts';
import { engineDeps, formatBytes, languagesOf } from '../shared/engine-list.ts';
import { readAccounts, makePrivate, octal, sharedPermissions } from '../../src/config/accounts.ts';
import { listSettings } from '../../src/config/settings.ts';
import type { EngineRegistration } from '../../src/contract/engine.ts';
import { ENVIRONMENT } from '../../src/contract/values.ts';
import { errnoOf, hasErrno, reasonOf } from '../../src/durable/file-failures.ts';
import { createTemporary } from '../../src/durable/files.ts';
import { Failure } from '../../src/errors/failure.ts';
import { nearestHint } from '../../src/text/did-you-mean.ts';
import { counted } from '../../src/text/display.ts';
import { Interrupted } from '../../src/cli/signals.ts';
import type { Target } from '../../src/config/target.ts';

/** Checks the version of Node.js, and environment variables that affect secrets and certificates. */
export const nodeCheck: Check = {
  name: 'node',
  async run(context) {
    const needed = supported.node.replace('>=', '');
    const running = `${process.versions.node} on ${context.system.platform} (${needed} or newer is needed)`;
    return [ok(running), ...tlsFindings(context), ...(await certificateFindings(context))];
  },
};

function tlsFindings({ env }: Context): Finding[] {
  const trustsAll = warning(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 makes programs trust any certificate; foley ignores it',
    'Unset the variable; for your own certificate, set NODE_EXTRA_CA_CERTS.',
  );
  const printsKeys = warning(
    'NODE_DEBUG makes Node.js print its requests, including API keys',
    'Unset the variable, especially where output is logged.',
  );
  return [
    ...(env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? [trustsAll] : []),
    ...((env['NODE_DEBUG'] ?? '') === '' ? [] : [printsKeys]),
  ];
}

async function certificateFindings({ env, system: { files } }: Context): Promise<Finding[]> {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return [];
  try {
    await files.access(file, constants.R_OK);
    return [];
  } catch (error) {
    const why = errnoOf(error) ?? 'unknown';
    return [warning(`NODE_EXTRA_CA_CERTS names ${file}, which cannot be read (${why})`)];
  }
}

/** Reports environment variables whose names begin with `FOLEY_` but which foley does not read. */
export const variablesCheck: Check = {
  name: 'variables',
  run: async ({ env }) => {
    const known = Object.keys(ENVIRONMENT);
    const given = Object.keys(env).filter((name) => name.startsWith('FOLEY_'));
    const unknown = given.filter((name) => !known.includes(name));
    if (unknown.length === 0) {
      return [ok(given.length === 0 ? 'none set' : `set: ${given.join(', ')}`)];
    }
    return unknown.map((name) => {
      const hint = nearestHint(name, known, `foley reads ${known.join(', ')}.`);
      return warning(`${name} is set, but foley does not read it`, hint);
    });
  },
};

export const settingsCheck: Check = {
  name: 'settings',
  async run(context) {
    const sources = await context.settings();
    listSettings(sources);
    const files = [sources.project, sources.user].flatMap((source) => source?.file ?? []);
    return [ok(files.length === 0 ? 'only defaults' : `read from ${files.join(' and ')}`)];
  },
};

/** Checks that the accounts file is valid and private. */
export const accountsCheck: Check = {
  name: 'accounts',
  async run(context) {
    const { accountsFile, config } = await context.paths();
    const { all } = await readAccounts(context.system.files, accountsFile);
    const names = [...all.keys()];
    const opened = all.size === 0 ? undefined : await makePrivate(context.system, accountsFile);
    const folderMode = await sharedPermissions(context.system, config);
    const findings = [ok(names.length === 0 ? 'none stored' : `stored: ${names.join(', ')}`)];
    if (opened !== undefined) findings.push(warning(opened));
    if (folderMode !== undefined) {
      const text = `${config} is readable by others (${octal(folderMode)})`;
      findings.push(warning(text, `chmod 700 ${config}`));
    }
    return findings;
  },
};

/** Checks that foley's folders can be written or created. */
export const foldersCheck: Check = {
  name: 'folders',
  async run(context) {
    const { cache, config, state } = await context.paths();
    const findings = [];
    for (const folder of [config, state, cache]) findings.push(await lookAtFolder(context, folder));
    return findings;
  },
};

export const recordsCheck: Check = {
  name: 'records',
  async run(context) {
    const { findDamaged } = await import('../shared/find-leftovers.ts');
    const damaged = await findDamaged(context);
    if (damaged.length === 0) return [ok('all readable')];
    return damaged.map(({ holds, paths: [where] }) =>
      problem(
        `${where} is unreadable; contains ${holds}`,
        '`foley recover --list` shows it; `foley recover --forget ID` removes it.',
      ),
    );
  },
};

async function lookAtFolder(context: Context, folder: string): Promise<Finding> {
  try {
    if (!(await exists(context, folder))) return await checkParentFolder(context, folder);
    const probe = await createTemporary(context.system, folder, 0o600);
    await probe.file.close();
    await context.system.files.unlink(probe.path);
    return ok(`${folder} is writable`);
  } catch (error) {
    return unwritable(folder, error);
  }
}

async function checkParentFolder(context: Context, folder: string): Promise<Finding> {
  let parent = path.dirname(folder);
  while (!(await exists(context, parent)) && path.dirname(parent) !== parent) {
    parent = path.dirname(parent);
  }
  await context.system.files.access(parent, constants.W_OK | constants.X_OK);
  return ok(`${folder} will be created when needed`);
}

async function exists({ system: { files } }: Context, folder: string): Promise<boolean> {
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

const FORMATS = ['mp3', 'wav', 'ogg'] as const;

/** Checks that an audio player is installed for each format. The `--play` flag requires a player. */
export const playersCheck: Check = {
  name: 'players',
  async run(context) {
    const players = await Promise.all(
      FORMATS.map(async (format) => ({ format, command: await playerFor(context, format) })),
    );
    const missing = players.filter(({ command }) => command === undefined);
    const found = players.filter(({ command }) => command !== undefined);
    const lacking = warning(
      `no player for ${missing.map(({ format }) => format).join(', ')} is installed`,
      'Install mpv or ffmpeg for --play, or name a program with --player.',
    );
    const usable = ok(found.map(({ command, format }) => `${format}: ${command}`).join(', '));
    return [...(found.length === 0 ? [] : [usable]), ...(missing.length === 0 ? [] : [lacking])];
  },
};

async function playerFor(
  { env, system }: Context,
  format: (typeof FORMATS)[number],
): Promise<string | undefined> {
  const { findPlayer, findProgram } = await import('../../src/speech/play.ts');
  try {
    const locate = (command: string) => findProgram(system, command, env);
    return (await findPlayer({ format, platform: system.platform }, locate)).command;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

const READ = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];
const IGNORED = ['all_proxy', 'ALL_PROXY'];

/** Checks the proxy settings in the environment variables, and reports whether requests use a proxy. */
export const proxyCheck: Check = {
  name: 'proxy',
  async run(context, shared) {
    const seen = READ.filter((name) => isSet(context, name));
    const ignored = IGNORED.filter((name) => isSet(context, name)).map((name) =>
      warning(`${name} is set, but foley does not read it`, 'Set HTTPS_PROXY instead.'),
    );
    if (seen.length === 0) return ignored.length > 0 ? ignored : [ok('none set')];
    return [await inUse(context, shared, seen.join(', ')), ...ignored];
  },
};

async function inUse(context: Context, shared: Shared, seen: string): Promise<Finding> {
  const baseUrl = await hostedUrl(shared);
  const proxy = baseUrl === undefined ? undefined : proxyFor(baseUrl, context.env);
  if (baseUrl === undefined || proxy === undefined) return ok(`${seen} set; no request needs it`);
  if (!URL.canParse(proxy) || !/^https?:/.test(proxy)) {
    return problem(
      `${seen}: not an http or https URL`,
      'Set HTTPS_PROXY to a URL such as http://proxy.example:3128, or unset it.',
    );
  }
  return ok(`${seen} set; requests to ${baseUrl.host} go through ${redactUrl(proxy)}`);
}

// Another check reports the error.
async function hostedUrl(shared: Shared): Promise<URL | undefined> {
  try {
    const target = await shared.target();
    return target.kind === 'hosted' ? target.address.baseUrl : undefined;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function isSet({ env }: Context, name: string): boolean {
  return (env[name] ?? '') !== '';
}

/**
 * Checks the speech engines that the user added; if there are none, suggests some. Also names the engines that keep
 * running between commands.
 */
export const enginesCheck: Check = {
  name: 'engines',
  async run(context) {
    const { loadEngineRegistrations, registrationsFile } =
      await import('../../src/engines/registrations.ts');
    const { engines: folder, runtime } = await context.paths();
    const engines = await loadEngineRegistrations(context.system.files, registrationsFile(folder));
    const { residentEngines } = await import('../../src/engines/inspector.ts');
    const [findings, resident] = await Promise.all([
      Promise.all(engines.map((engine) => lookAt(context, engine))),
      residentEngines(runtime),
    ]);
    const works = findings.length === 0 ? [ok(NO_ENGINES)] : findings;
    const [first] = resident;
    if (first === undefined) return works;
    const stay = resident.length === 1 ? '1 process stays' : `${resident.length} processes stay`;
    return [...works, ok(`${stay} ready between commands: ${resident.join(', ')}`)];
  },
};

const NO_ENGINES =
  'English only; `foley engine add kokoro` adds more voices, and `foley engine add espeak-ng` 18 languages';

async function lookAt(context: Context, engine: EngineRegistration): Promise<Finding> {
  const { inspect } = await engineDeps(context);
  const { args, command, cwd, name, voices } = engine;
  const found = await inspect({ name, command, args, cwd });
  if (found.isSound) {
    const installation = await describeInstallation(context, engine);
    return ok(`${name} works and speaks ${languagesOf(engine)}${installation}`);
  }
  return problem(
    `${name} does not work, and its voices (${voices.length}) cannot speak: ${found.fault.replace(/\.$/, '')}`,
    `Add it again with \`foley engine add\`, or remove it: foley engine remove ${name}`,
  );
}

async function describeInstallation(context: Context, engine: EngineRegistration): Promise<string> {
  const [{ installedBytes }, { isNaturalEngine }] = await Promise.all([
    import('../../src/engines/registrations.ts'),
    import('../../src/engines/natural-engines.ts'),
  ]);
  const { engines: folder, models } = await context.paths();
  const bytes = await installedBytes(engine, context.system.files, [folder, models]);
  if (bytes === undefined) return '';
  const kind = isNaturalEngine(engine.name) ? 'natural voice' : 'voice';
  return ` (${counted(engine.voices.length, kind)}, ${formatBytes(bytes)})`;
}

/** One result of a check. A `problem` must be fixed; a `warning` may be ignored. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  readonly hint?: string | undefined;
}

export interface Shared {
  /** Returns the service that commands use. @throws Failure if the service cannot be determined */
  readonly target: () => Promise<Target>;
}

/** A check of `foley doctor`. If `run` throws an error, the error is reported as a problem. */
export interface Check {
  readonly name: string;
  readonly run: (context: Context, shared: Shared) => Promise<readonly Finding[]>;
}

export function ok(text: string): Finding {
  return { state: 'ok', text };
}

export function warning(text: string, hint?: string): Finding {
  return { state: 'warning', text, hint };
}

export function problem(text: string, hint?: string): Finding {
  return { state: 'problem', text, hint };
}

/** Converts an error to a finding with the state `problem`. @throws Interrupted if `error` is an `Interrupted` */
export function problemOf(error: unknown): Finding {
  if (error instanceof Interrupted) throw error;
  if (error instanceof Failure) return problem(error.message, error.hint);
  const message = error instanceof Error ? error.message : String(error);
  return problem(message, 'This is a bug in foley; please report it.');
}
