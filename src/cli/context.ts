import type { ApiClient } from '../api/client.ts';
import type { Paths } from '../config/paths.ts';
import type { SettingSources } from '../config/settings.ts';
import type { Clock } from '../effects/clock.ts';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes } from '../effects/processes.ts';
import { systemProcesses } from '../effects/processes.ts';
import type { Random } from '../effects/random.ts';
import type { FileDeps } from '../files/file-deps.ts';
import type { GlobalOptions } from './global-options.ts';
import type { Io } from './io.ts';
import { render } from './render.ts';
import type { CommandResult } from './result.ts';
import type { SignalSource, StopSignal } from './signals.ts';
import type { Streams } from './streams.ts';

/** Everything that `main` takes from outside, so that a test can replace it. */
export interface MainDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The current folder; throws a Failure (usage) when it was removed. */
  readonly cwd: () => string;
  readonly homeDirectory: string;
  readonly platform: NodeJS.Platform;
  readonly streams: Streams;
  readonly signals: SignalSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  /** Ends the process at once: the second Ctrl-C. */
  readonly leaveAtOnce: (signal: StopSignal) => void;
}

/** A service that answers, and what kind it is. */
export interface Connection {
  readonly client: ApiClient;
  readonly target: 'embedded' | 'hosted';
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Only public documents will be asked for, so that no key is needed. */
  readonly publicOnly?: boolean;
}

/** What a command works with. What costs something is a function, and is done when it is called. */
export interface Context extends FileDeps {
  readonly globals: GlobalOptions;
  readonly env: MainDeps['env'];
  readonly cwd: MainDeps['cwd'];
  readonly homeDirectory: string;
  readonly io: Io;
  /** Looked up when it is first asked for. */
  readonly processes: Processes;
  /** Aborted when the user wants to stop. */
  readonly signal: AbortSignal;
  /** Where foley keeps its files. */
  paths(): Promise<Paths>;
  /** Everything that is configured, below the flags. */
  settings(): Promise<SettingSources>;
  /** The service that is meant, started if it is the embedded one; the same one each time. */
  connect(options?: ConnectOptions): Promise<Connection>;
  /** Renders a result before the command has ended, such as the address of a server. */
  emit(result: CommandResult): Promise<void>;
  /** Ends what was started. */
  close(): Promise<void>;
}

export interface ContextInputs {
  readonly deps: MainDeps;
  readonly globals: GlobalOptions;
  readonly io: Io;
  readonly signal: AbortSignal;
}

export function createContext({ deps, globals, io, signal }: ContextInputs): Context {
  const { clock, cwd, env, files, homeDirectory, platform, random } = deps;
  const paths = once(async () => {
    const { resolvePaths } = await import('../config/paths.ts');
    return resolvePaths(deps);
  });
  const settings = once(async () => {
    const [{ loadSettings }, { untilStopped }] = await Promise.all([
      import('../config/settings.ts'),
      import('../speech/until-stopped.ts'),
    ]);
    const { settingsFile } = await paths();
    // A folder of a network may not answer.
    return untilStopped(loadSettings({ files, env, cwd: cwd(), settingsFile }), signal);
  });
  let processes: Processes | undefined;
  let connection: Promise<Connection> | undefined;
  const context: Context = {
    clock,
    cwd,
    env,
    files,
    globals,
    homeDirectory,
    io,
    platform,
    get processes() {
      return (processes ??= systemProcesses());
    },
    random,
    signal,
    paths,
    settings,
    connect: (options) => (connection ??= openConnection(context, options ?? {})),
    emit: (result) => render(result, io, globals.json === true),
    close: async () => {
      // Whoever waited for the connection was told why there is none.
      const open = await connection?.catch(() => undefined);
      await open?.close();
    },
  };
  return context;
}

async function openConnection(context: Context, options: ConnectOptions): Promise<Connection> {
  const { connect } = await import('./connect.ts');
  return connect(context, options);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
