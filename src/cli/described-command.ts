import type { ExitCode } from '../contract/exit-codes.ts';
import type { SettingName } from '../config/setting-definitions.ts';
import { SETTING_NAMES, SETTINGS } from '../config/setting-definitions.ts';

/** A flag as the help shows it. `value` is a placeholder such as `path`; undefined if the flag has no value. */
export interface DescribedFlag {
  readonly long: string;
  readonly short: string | undefined;
  readonly value: string | undefined;
  /** Type of the value; a flag without a value is `boolean`. A duration is text such as `500ms`, `30s` or `1h`. */
  readonly type: 'boolean' | 'duration' | 'integer' | 'number' | 'string';
  readonly minimum?: number;
  readonly maximum?: number;
  /** The values that the flag accepts, if there is a list of them. */
  readonly source: ValueSource;
  /** The default as the help shows it, which may be a condition. */
  readonly default?: string;
  /** The setting that is used without the flag. */
  readonly setting?: SettingName;
  /** The environment variable that is used without the flag. It precedes the setting. */
  readonly environment?: string;
  readonly isRequired?: true;
  /** Whether the flag may be given more than once. */
  readonly isRepeatable?: true;
  readonly description: string;
}

export interface DescribedArgument {
  readonly name: string;
  readonly required: boolean;
  readonly variadic: boolean;
  readonly source: ValueSource;
  readonly description: string;
}

/** The description of a command, for completions, man pages and the reference. */
export interface DescribedCommand {
  /** Names of the command and its parents, such as `['voices', 'list']`. */
  readonly path: readonly string[];
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly usage: string;
  readonly arguments: readonly DescribedArgument[];
  /** The flags of the command, except the global flags. */
  readonly flags: readonly DescribedFlag[];
  /** Additional text in the help of a command, such as examples. */
  readonly notes: string;
  /** Command lines, which are also in `notes`. */
  readonly examples: readonly string[];
  readonly children: readonly DescribedCommand[];
  /** Name of the default subcommand, if the command is a group that has one. */
  readonly fallback: string | undefined;
}

/** What applies to every command. */
interface DescribedGlobals {
  readonly globalFlags: readonly DescribedFlag[];
  readonly exitCodes: readonly DescribedExitCode[];
}

interface DescribedExitCode {
  readonly code: ExitCode;
  readonly meaning: string;
}

export interface DescribedTree extends DescribedGlobals {
  readonly commands: readonly DescribedCommand[];
}

/** What `--help --json` prints: all commands, or one command. */
export type HelpDocument = DescribedTree | CommandHelp;

interface CommandHelp extends Partial<DescribedCommand>, DescribedGlobals {}

/**
 * Returns the document that `--help --json` prints: the description of one command with the global flags, or of all
 * commands if the path is empty. The build writes the descriptions.
 */
export async function describeHelp(path: readonly string[]): Promise<HelpDocument> {
  const tree = await readTree();
  if (path.length === 0) return tree;
  const name = path.join(' ');
  const command = everyCommand(tree.commands).find((one) => one.path.join(' ') === name);
  const { exitCodes, globalFlags } = tree;
  return { ...command, globalFlags, exitCodes };
}

/** Reads the descriptions of all commands, which the build writes. */
export async function readTree(): Promise<DescribedTree> {
  const { readFile } = await import('node:fs/promises');
  return JSON.parse(await readFile(new URL('../../dist/tree.json', import.meta.url), 'utf8'));
}

/** Returns all commands as one list, in which each command precedes its subcommands. */
export function everyCommand(commands: readonly DescribedCommand[]): DescribedCommand[] {
  return commands.flatMap((command) => [command, ...everyCommand(command.children)]);
}

/** Kinds of names that foley completes in a shell. */
export type KnownName = 'voice' | 'voice-name' | 'model' | 'job' | 'account' | 'setting' | 'engine';

/**
 * What a shell offers as completions for a value: words, files, folders, or stored names such as voice ids. `anything`
 * is free text and `nothing` is no value: the shell offers no completions for them.
 */
export type ValueSource =
  | 'anything'
  | 'files'
  | 'folders'
  | 'nothing'
  | { readonly known: KnownName }
  | {
      readonly words: readonly string[];
      readonly about?: readonly string[];
      /** Whether the value is a list of words, separated by commas. */
      readonly isList?: true;
    };

const KNOWN_BY_FLAG: Readonly<Record<string, KnownName>> = {
  '--account': 'account',
  '--model': 'model',
  '--voice': 'voice',
  '--voice-name': 'voice-name',
};

const KNOWN_BY_COMMAND: Readonly<Record<string, KnownName>> = {
  'config get': 'setting',
  'config set': 'setting',
  'config unset': 'setting',
  'engine remove': 'engine',
  'jobs download': 'job',
  'jobs get': 'job',
  'jobs wait': 'job',
  'models get': 'model',
  'voices delete': 'voice',
  'voices get': 'voice',
  'voices preview': 'voice',
};

const ON_DISK: Readonly<Record<string, 'files' | 'folders'>> = {
  dir: 'folders',
  file: 'files',
  folder: 'folders',
  path: 'files',
};

/** Returns the source of shell completions for a flag. @param value the placeholder in its help, such as `file` */
export function flagSource(
  long: string,
  value: string,
  words: readonly string[] | undefined,
): ValueSource {
  if (words !== undefined) return value === 'names' ? { words, isList: true } : { words };
  const known = KNOWN_BY_FLAG[long];
  return known === undefined ? (ON_DISK[value] ?? 'anything') : { known };
}

/** Returns the source of shell completions for an argument. @param path the command, such as `['config', 'set']` */
export function argumentSource(path: readonly string[], name: string): ValueSource {
  const known = name === 'value' ? undefined : KNOWN_BY_COMMAND[path.join(' ')];
  return known === undefined ? (ON_DISK[name] ?? 'anything') : { known };
}

/** The commands and flags that `foley __complete` offers. The build saves this list in a file. */
export interface Grammar {
  /** What can follow each command. The keys are commands such as `jobs wait`; an empty key stands for `foley` alone. */
  readonly places: Readonly<Record<string, OfferedHere>>;
  readonly globalFlags: readonly DescribedFlag[];
}

interface OfferedHere {
  readonly commands: readonly OfferedWord[];
  readonly flags: readonly DescribedFlag[];
  /** Where a shell finds completions for each argument. The last entry also applies to all further arguments. */
  readonly arguments: readonly ValueSource[];
}

/** A word that a shell offers, with its description. */
export type OfferedWord = readonly [word: string, description: string];

/** Converts descriptions of commands to the form that `foley __complete` reads. */
export function grammarOf({ commands, globalFlags }: DescribedTree): Grammar {
  const root: OfferedHere = { commands: offered(commands), flags: [], arguments: [] };
  const places = everyCommand(commands).flatMap((command) => placesOf(command));
  return { places: Object.fromEntries([['', root], ...places]), globalFlags };
}

// A group also offers the words of its default subcommand.
function placesOf(command: DescribedCommand): [string, OfferedHere][] {
  const usual = command.children.find(({ path }) => path.at(-1) === command.fallback);
  const place = {
    commands: offered(command.children),
    flags: (usual ?? command).flags.map((flag) => ({ ...flag, source: settingNames(flag.source) })),
    arguments: (usual ?? command).arguments.map(({ source }) => settingNames(source)),
  };
  const parents = command.path.slice(0, -1);
  const names = [command.path.at(-1) ?? '', ...command.aliases];
  return names.map((name) => [[...parents, name].join(' '), place]);
}

function offered(commands: readonly DescribedCommand[]): OfferedWord[] {
  return commands.flatMap(({ aliases, path, summary }) =>
    [path.at(-1) ?? '', ...aliases].map((word): OfferedWord => [word, summary]),
  );
}

function settingNames(source: ValueSource): ValueSource {
  const isSetting = typeof source === 'object' && 'known' in source && source.known === 'setting';
  if (!isSetting) return source;
  return { words: SETTING_NAMES, about: SETTING_NAMES.map((name) => SETTINGS[name].what) };
}
