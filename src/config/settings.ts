import path from 'node:path';
import type { FileSystem } from '../system/file-system.ts';
import { configFailure } from '../errors/failure.ts';
import { hasErrno } from '../durable/file-failures.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import type { JsonObject } from './json-file.ts';
import { isObject, readJsonFile } from './json-file.ts';
import type { SettingName, SettingValues } from './setting-definitions.ts';
import { isSettingName, SETTING_NAMES, SETTINGS } from './setting-definitions.ts';

export const PROJECT_FILE = 'foley.config.json';

/** Where the value of a setting comes from, in order of precedence: a flag overrides all other sources. */
export type Origin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'project'; readonly file: string }
  | { readonly kind: 'user'; readonly file: string }
  | { readonly kind: 'default' };

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

export interface SettingsFile {
  readonly file: string;
  readonly values: Partial<SettingValues>;
}

/** The values of all settings, separately for each source. Flags are not included. */
export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly project: SettingsFile | undefined;
  readonly user: SettingsFile | undefined;
}

/**
 * Reads the settings files of the project and of the user. The project file is in the current folder or in the nearest
 * parent folder that has one.
 * @throws Failure of kind `config` if a file is invalid; the message names the file
 */
export async function loadSettings({
  cwd,
  env,
  files,
  settingsFile,
}: {
  readonly files: FileSystem;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's `config.json`. */
  readonly settingsFile: string;
}): Promise<SettingSources> {
  const project = findProject(files, cwd);
  // If both files are invalid, the user's is reported.
  project.catch(() => undefined);
  const user = await readJsonFile(files, settingsFile, 'follow');
  return {
    env,
    project: await project,
    user: user === undefined ? undefined : checkSettings(user, settingsFile, 'user'),
  };
}

/**
 * Returns the effective value of a setting. The first source with a value counts: flag, environment, project file,
 * user's file, default.
 * @throws Failure of kind `config` for an invalid environment variable
 */
export function resolveSetting<Name extends SettingName>(
  sources: SettingSources,
  name: Name,
  flag?: SettingValues[Name],
): Setting<SettingValues[Name]> | undefined {
  const isCi = (sources.env['CI'] ?? '') !== '';
  const { fallback, fallbackInCi = fallback } = SETTINGS[name];
  const usual = isCi ? fallbackInCi : fallback;
  if (flag !== undefined) return { value: flag, origin: { kind: 'flag', name: flagName(name) } };
  const fromEnvironment = readEnvironment(sources.env, name);
  if (fromEnvironment !== undefined) return fromEnvironment;
  for (const kind of ['project', 'user'] as const) {
    const source = sources[kind];
    const value = source?.values[name];
    if (source !== undefined && value !== undefined) {
      return { value, origin: { kind, file: source.file } };
    }
  }
  return usual === undefined ? undefined : { value: usual, origin: { kind: 'default' } };
}

/** Returns every setting that has a value. */
export function listSettings(
  sources: SettingSources,
): readonly (Setting<boolean | number | string> & { readonly name: SettingName })[] {
  return SETTING_NAMES.flatMap((name) => {
    const setting = resolveSetting(sources, name);
    return setting === undefined ? [] : [{ name, ...setting }];
  });
}

/**
 * Returns the source of a value for messages: the name of the flag or environment variable, the path of the file, or
 * `default`.
 */
export function describeOrigin(origin: Origin): string {
  if (origin.kind === 'default') return origin.kind;
  return 'name' in origin ? origin.name : origin.file;
}

function checkSettings(content: JsonObject, file: string, scope: 'project' | 'user'): SettingsFile {
  const values = Object.fromEntries(
    flatten(content).map(([name, given]) => {
      if (!isSettingName(name)) throw unknownSetting(name, file, scope);
      const { allowed, project, read } = SETTINGS[name];
      if (scope === 'project' && !project) {
        throw configFailure(
          `${file}: "${name}" cannot be set in the settings file of a project`,
          `Set it in your own settings: foley config set ${name} …`,
        );
      }
      const value = read(given);
      if (value === undefined) {
        throw configFailure(
          `${file}: "${name}" is ${JSON.stringify(given)}; it takes ${allowed}`,
          'Fix the file; foley does not change an invalid file.',
        );
      }
      return [name, value];
    }),
  );
  return { file, values };
}

async function findProject(files: FileSystem, cwd: string): Promise<SettingsFile | undefined> {
  const candidates = foldersFrom(path.resolve(cwd)).map((folder) => {
    const file = path.join(folder, PROJECT_FILE);
    return { file, mayExist: mayExist(file, files) };
  });
  // Read only the nearest: files further up may be of any kind and size.
  for (const { file, mayExist: isCandidate } of candidates) {
    const content = (await isCandidate) ? await readJsonFile(files, file, 'refuse') : undefined;
    if (content !== undefined) return checkSettings(content, file, 'project');
  }
  return undefined;
}

function mayExist(file: string, files: FileSystem): Promise<boolean> {
  return files.lstat(file).then(
    () => true,
    (error: unknown) => !hasErrno(error, 'ENOENT', 'ENOTDIR'),
  );
}

function foldersFrom(folder: string): readonly string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersFrom(above)];
}

function readEnvironment<Name extends SettingName>(
  env: SettingSources['env'],
  name: Name,
): Setting<SettingValues[Name]> | undefined {
  const { allowed, environment, read } = SETTINGS[name];
  const given = environment === undefined ? undefined : env[environment];
  if (environment === undefined || given === undefined || given === '') return undefined;
  const value = read(given);
  if (value === undefined) throw configFailure(`${environment} is "${given}"; it takes ${allowed}`);
  return { value, origin: { kind: 'environment', name: environment } };
}

// `{"upload":{"command":…}}` becomes `upload.command`.
function flatten(content: JsonObject, prefix = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(content).flatMap(([key, value]) =>
    isObject(value) && !isLeaf(prefix + key)
      ? flatten(value, `${prefix}${key}.`)
      : [[prefix + key, value] as const],
  );
}

// `reuse` is a setting, and the parent of `reuse.maxSize`.
function isLeaf(name: string): boolean {
  return isSettingName(name) && !SETTING_NAMES.some((one) => one.startsWith(`${name}.`));
}

function unknownSetting(name: string, file: string, scope: 'project' | 'user'): Error {
  const isProject = scope === 'project';
  const names = SETTING_NAMES.filter((one) => !isProject || SETTINGS[one].project);
  const all = `${isProject ? 'A project may set' : 'The settings are'} ${names.join(', ')}.`;
  return configFailure(`${file}: unknown setting "${name}"`, nearestHint(name, names, all));
}

/** Returns the flag for the name of an option, such as `--cue-by` for `cueBy`. */
export function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
