import type { DescribedCommand, DescribedFlag, DescribedTree } from '../described-command.ts';
import { everyCommand } from '../described-command.ts';
import type { ValueSource } from '../value-sources.ts';

/** A word that a shell offers, and what it tells of it. */
export interface OfferedWord {
  readonly word: string;
  readonly description: string;
}

/** What can stand behind one path of the command line. */
export interface Place {
  /** `jobs wait`; empty for `foley` alone. */
  readonly path: string;
  readonly commands: readonly OfferedWord[];
  readonly flags: readonly DescribedFlag[];
  /** Where the arguments come from; the last one stands for all that follow. */
  readonly arguments: readonly ValueSource[];
}

/** What the scripts of all shells are written from. */
export interface Grammar {
  readonly places: readonly Place[];
  /** Flags, long and short, after which the next word is their value. */
  readonly flagsWithValue: readonly string[];
}

/** The words of the command line, place by place. */
export function grammarOf({ commands, globalFlags }: DescribedTree): Grammar {
  const root: Place = { path: '', commands: offered(commands), flags: globalFlags, arguments: [] };
  const places = everyCommand(commands).flatMap((command) => placesOf(command, globalFlags));
  const all = [root, ...places];
  const withValue = all.flatMap(({ flags }) => flags.filter(({ value }) => value !== undefined));
  const names = withValue.flatMap(({ long, short }) =>
    short === undefined ? [long] : [long, short],
  );
  return { places: all, flagsWithValue: [...new Set(names)].toSorted() };
}

/** A command has a place under each of its names; a noun also takes what its usual verb takes. */
function placesOf(command: DescribedCommand, globalFlags: readonly DescribedFlag[]): Place[] {
  const usual = command.children.find(({ path }) => path.at(-1) === command.fallback);
  const place = {
    commands: offered(command.children),
    flags: [...(usual ?? command).flags, ...globalFlags],
    arguments: (usual ?? command).arguments.map(({ source }) => source),
  };
  const parents = command.path.slice(0, -1);
  const names = [command.path.at(-1) ?? '', ...command.aliases];
  return names.map((name) => ({ path: [...parents, name].join(' '), ...place }));
}

function offered(commands: readonly DescribedCommand[]): OfferedWord[] {
  return commands.flatMap(({ aliases, path, summary }) =>
    [path.at(-1) ?? '', ...aliases].map((word) => ({ word, description: summary })),
  );
}
