import type { Command } from 'commander';
import type { ApiClient } from '../api/client.ts';
import type { Paths } from '../config/paths.ts';
import type { SettingSources } from '../config/settings.ts';
import type { System } from '../system/system.ts';
import type { GlobalOptions } from './flags/global.ts';
import type { Io, Streams } from './io.ts';
import type { CommandResult } from './render/result.ts';
import type { SignalSource, StopSignal } from './signals.ts';

export interface CommandInput<Options> {
  readonly args: readonly string[];
  readonly options: Options;
}

/**
 * A command's flags and implementation. Its name and summary are in `commands/tree.ts`, and the JSON that it prints in
 * `commands/outputs.ts`.
 */
export interface CommandDefinition<Options extends object = object, Data = unknown> {
  /** Adds the description, arguments, flags and examples to the command. */
  configure(command: Command): void;
  /** Runs the command and returns the result; prints nothing. */
  run(context: Context, input: CommandInput<Options>): Promise<CommandResult<Data>>;
  /** True if an argument that begins with a dash and contains white space is text, not a flag. */
  readonly freeText?: boolean;
}

/** A command without subcommands. `load` imports the module of the command. */
export interface Leaf {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
}

/** A command with subcommands, such as `voices`. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly children: readonly Leaf[];
  /** Name of the default subcommand. Without a default, the command group prints its help. */
  readonly fallback?: string;
  /** Loads the command that runs if the user types no subcommand, as in `foley live`. */
  readonly itself?: () => Promise<CommandDefinition>;
}

export type CommandNode = Leaf | Branch;

export function isBranch(node: CommandNode): node is Branch {
  return 'children' in node;
}

/** Returns the name of a command and its other names. */
export function namesOf(node: CommandNode): readonly string[] {
  return isBranch(node) ? [node.name] : [node.name, ...(node.aliases ?? [])];
}

/** Returns whether help, completions, man pages and suggestions list the command. */
export function isShown(node: CommandNode): boolean {
  return isBranch(node) || node.hidden !== true;
}

/** Dependencies of a command. Dependencies that are slow to create are functions. */
export interface Context {
  readonly system: System;
  readonly globals: GlobalOptions;
  readonly env: MainDeps['env'];
  readonly cwd: MainDeps['cwd'];
  readonly homeDirectory: string;
  readonly io: Io;
  /** Aborted by a stop signal such as Ctrl-C. */
  readonly signal: AbortSignal;
  paths(): Promise<Paths>;
  /** Returns the settings from the environment, the project's file and the user's file. */
  settings(): Promise<SettingSources>;
  /** Connects to the service and, if needed, starts the embedded service. Later calls return the same connection. */
  connect(options?: ConnectOptions): Promise<ServiceConnection>;
  /** Prints a result before the command has ended, such as the URL of a server. */
  emit(result: CommandResult): Promise<void>;
  /** Closes the connection and the embedded service. */
  close(): Promise<void>;
}

export interface ServiceConnection {
  readonly client: ApiClient;
  readonly target: 'embedded' | 'hosted';
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Whether the command reads only public documents, which require no API key. */
  readonly publicOnly?: boolean;
  /** Whether the command will request speech. The embedded service then starts its speech engine early. */
  readonly speaks?: boolean;
}

/** Dependencies of `main`, injected for tests. */
export interface MainDeps {
  readonly system: System;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the current folder. @throws Failure of kind `usage` if the folder was deleted */
  readonly cwd: () => string;
  readonly homeDirectory: string;
  readonly streams: Streams;
  readonly signals: SignalSource;
  /** Ends the process at once. foley calls this function after the second stop signal. */
  readonly leaveAtOnce: (signal: StopSignal) => void;
}
