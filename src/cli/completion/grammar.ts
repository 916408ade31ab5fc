import { SETTING_NAMES, SETTINGS } from '../../config/setting-definitions.ts';
import type { DescribedCommand, DescribedFlag, DescribedTree } from '../described-command.ts';
import { everyCommand } from '../described-command.ts';
import type { ValueSource } from '../value-sources.ts';

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
