import type { Command } from 'commander';
import type { ApiClient } from '../api/client.ts';
import type { Paths } from '../config/paths.ts';
import type { SettingSources } from '../config/settings.ts';
import type { FileDeps } from '../durable/files.ts';
import type { Clock } from '../effects/clock.ts';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes } from '../effects/processes.ts';
import type { Random } from '../effects/random.ts';
import type { GlobalOptions } from './flags/global.ts';
import type { Io, Streams } from './io.ts';
import type { CommandResult } from './render/result.ts';
import type { SignalSource, StopSignal } from './signals.ts';

/** The parsed arguments and flags of a command. */
export interface CommandInput<Options> {
  readonly args: readonly string[];
  readonly options: Options;
}

/** A command: its flags and its work. Its name and summary are in the command tree. */
export interface CommandDefinition<Options extends object = object> {
  /** Adds the description, arguments, flags and examples. */
  configure(command: Command): void;
  /** Does the work and returns the result; prints nothing. */
  run(context: Context, input: CommandInput<Options>): Promise<CommandResult>;
  /** Whether an argument that begins with a dash and contains white space is text, not a flag. */
  readonly freeText?: boolean;
}

/** A command in the tree; `load` imports its module. */
export interface Leaf {
  readonly name: string;
  /** Other names of the command. */
  readonly aliases?: readonly string[];
  /** Hidden from help and completions. */
  readonly hidden?: boolean;
  readonly summary: string;
  readonly load: () => Promise<CommandDefinition>;
}

/** A noun with verbs. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly children: readonly Leaf[];
  /** The default verb; without one, the help is shown. */
  readonly fallback?: string;
  /** Runs when the first word is not a verb. */
  readonly itself?: () => Promise<CommandDefinition>;
}

export type CommandNode = Leaf | Branch;

export function isBranch(node: CommandNode): node is Branch {
  return 'children' in node;
}

/** Returns whether help, completions, man pages and suggestions list the command. */
export function isShown(node: CommandNode): boolean {
  return isBranch(node) || node.hidden !== true;
}

/** The services that a command uses; costly ones are functions. */
export interface Context extends FileDeps {
  readonly globals: GlobalOptions;
  readonly env: MainDeps['env'];
  readonly cwd: MainDeps['cwd'];
  readonly homeDirectory: string;
  readonly io: Io;
  /** Created on first use. */
  readonly processes: Processes;
  /** Aborted by a stop signal such as Ctrl-C. */
  readonly signal: AbortSignal;
  /** Returns foley's folders and files. */
  paths(): Promise<Paths>;
  /** Returns the settings below the flags. */
  settings(): Promise<SettingSources>;
  /** Connects to the service, starting the embedded one if needed; always returns the same connection. */
  connect(options?: ConnectOptions): Promise<Connection>;
  /** Renders a result before the command has ended, such as the address of a server. */
  emit(result: CommandResult): Promise<void>;
  /** Closes the connection and the embedded service. */
  close(): Promise<void>;
}

/** A client connected to a service. */
export interface Connection {
  readonly client: ApiClient;
  readonly target: 'embedded' | 'hosted';
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Whether only public documents are requested, which needs no key. */
  readonly publicOnly?: boolean;
  /** Whether speech will be requested: the embedded service then starts its engine early. */
  readonly speaks?: boolean;
}

/** The environment of `main`, injected for tests. */
export interface MainDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the current folder. @throws Failure (usage) if it was deleted */
  readonly cwd: () => string;
  readonly homeDirectory: string;
  readonly platform: NodeJS.Platform;
  readonly streams: Streams;
  readonly signals: SignalSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  /** Ends the process at once, at the second Ctrl-C. */
  readonly leaveAtOnce: (signal: StopSignal) => void;
}
