import type { Command } from 'commander';
import type { Context } from './context.ts';
import type { CommandResult } from './result.ts';

/** What the parser found for one command. */
export interface CommandInput<Options> {
  readonly args: readonly string[];
  readonly options: Options;
}

/** A command: what it accepts and what it does. Its name and summary are in the command tree. */
export interface CommandDefinition<Options extends object = object> {
  /** Adds arguments, options, and the longer help. */
  configure(command: Command): void;
  /** Does the work and gives back what it found; prints nothing. */
  run(context: Context, input: CommandInput<Options>): Promise<CommandResult>;
  /**
   * The arguments are free text: one that begins with a dash is text when it has white space
   * (contract, section 5).
   */
  readonly freeText?: boolean;
}

/** A command in the tree; its module is loaded only when it is called. */
export interface Leaf {
  readonly name: string;
  /** Other names for the same. */
  readonly aliases?: readonly string[];
  /** For other programs: not in the help, not completed. */
  readonly hidden?: boolean;
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
}

/** A noun with verbs. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly children: readonly Leaf[];
  /** The verb that runs when none is given: `list` where there is one. Without it the help is shown. */
  readonly fallback?: string;
  /** What the noun does itself, with words that name none of its verbs. */
  readonly itself?: () => Promise<CommandDefinition>;
}

export type CommandNode = Leaf | Branch;

export function isBranch(node: CommandNode): node is Branch {
  return 'children' in node;
}

/** Whether people are told of it: help, completions, man pages, suggestions. */
export function isShown(node: CommandNode): boolean {
  return isBranch(node) || node.hidden !== true;
}
