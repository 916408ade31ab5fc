import { SETTING_NAMES, SETTINGS } from '../config/setting-definitions.ts';

/** A flag as people are told of it; `value` is the name of what it takes. */
export interface DescribedFlag {
  readonly long: string;
  readonly short: string | undefined;
  readonly value: string | undefined;
  readonly source: ValueSource;
  readonly description: string;
}

export interface DescribedArgument {
  readonly name: string;
  readonly required: boolean;
  readonly variadic: boolean;
  readonly source: ValueSource;
  readonly description: string;
}

/** A command as data: what completions, man pages and the reference are written from. */
export interface DescribedCommand {
  /** Names from the root, without `foley`. */
  readonly path: readonly string[];
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly usage: string;
  readonly arguments: readonly DescribedArgument[];
  /** Its own flags; those of every command are in {@link DescribedTree}. */
  readonly flags: readonly DescribedFlag[];
  /** What its help says after the flags: examples and notes. */
  readonly notes: string;
  readonly children: readonly DescribedCommand[];
  /** The verb that is meant when none is given. */
  readonly fallback: string | undefined;
}

export interface DescribedTree {
  readonly commands: readonly DescribedCommand[];
  readonly globalFlags: readonly DescribedFlag[];
}

/** Every command and verb, each noun before its verbs. */
export function everyCommand(commands: readonly DescribedCommand[]): DescribedCommand[] {
  return commands.flatMap((command) => [command, ...everyCommand(command.children)]);
}

/** Kinds of names that foley remembers, so that a shell can complete them. */
export const KNOWN_NAMES = [
  'voice',
  'voice-name',
  'model',
  'job',
  'account',
  'setting',
  'engine',
] as const;

export type KnownName = (typeof KNOWN_NAMES)[number];

/** Where the words for a value come from: a list, the disk, what foley knows, or nowhere. */
export type ValueSource =
  | 'anything'
  | 'files'
  | 'folders'
  | 'nothing'
  | { readonly known: KnownName }
  | { readonly words: readonly string[]; readonly about?: readonly string[] };

/** Flags whose value is a name that foley may know. */
const KNOWN_BY_FLAG: Readonly<Record<string, KnownName>> = {
  '--account': 'account',
  '--model': 'model',
  '--voice': 'voice',
  '--voice-name': 'voice-name',
};

/** Arguments that are such names, by the command they belong to. */
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

/** Where the value of a flag comes from; `value` is the name that its help gives it. */
export function flagSource(
  long: string,
  value: string,
  words: readonly string[] | undefined,
): ValueSource {
  if (words !== undefined) return { words };
  const known = KNOWN_BY_FLAG[long];
  return known === undefined ? (ON_DISK[value] ?? 'anything') : { known };
}

/** Where an argument comes from. Only the first one of a command is ever a known name. */
export function argumentSource(path: readonly string[], name: string): ValueSource {
  const known = name === 'value' ? undefined : KNOWN_BY_COMMAND[path.join(' ')];
  return known === undefined ? (ON_DISK[name] ?? 'anything') : { known };
}

/** What `foley __complete` reads: the words of the command line, as the build saves them. */
export interface Grammar {
  /** What can follow each path: `jobs wait`; empty for `foley` alone. */
  readonly places: Readonly<Record<string, Place>>;
  readonly globalFlags: readonly DescribedFlag[];
}

export interface Place {
  readonly commands: readonly OfferedWord[];
  /** Without those of every command. */
  readonly flags: readonly DescribedFlag[];
  /** The sources of the arguments; the last one also serves all that follow. */
  readonly arguments: readonly ValueSource[];
}

/** A word that a shell offers, with its description. */
export type OfferedWord = readonly [word: string, description: string];

/** Returns the words of the command line, place by place. */
export function grammarOf({ commands, globalFlags }: DescribedTree): Grammar {
  const root: Place = { commands: offered(commands), flags: [], arguments: [] };
  const places = everyCommand(commands).flatMap((command) => placesOf(command));
  return { places: Object.fromEntries([['', root], ...places]), globalFlags };
}

/** A command has a place under each of its names; a noun also accepts what its usual verb accepts. */
function placesOf(command: DescribedCommand): [string, Place][] {
  const usual = command.children.find(({ path }) => path.at(-1) === command.fallback);
  const place = {
    commands: offered(command.children),
    flags: (usual ?? command).flags.map((flag) => ({ ...flag, source: listed(flag.source) })),
    arguments: (usual ?? command).arguments.map(({ source }) => listed(source)),
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

/** The names of settings are the same everywhere, so the build lists them. */
function listed(source: ValueSource): ValueSource {
  const isSetting = typeof source === 'object' && 'known' in source && source.known === 'setting';
  if (!isSetting) return source;
  return { words: SETTING_NAMES, about: SETTING_NAMES.map((name) => SETTINGS[name].what) };
}
