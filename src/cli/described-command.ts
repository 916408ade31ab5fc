import type { ValueSource } from './value-sources.ts';

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
