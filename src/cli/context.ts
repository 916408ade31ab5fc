import type { Processes } from '../effects/processes.ts';
import { systemProcesses } from '../effects/processes.ts';
import type { Context, Connection, ConnectOptions, MainDeps } from './command.ts';
import type { GlobalOptions } from './flags/global.ts';
import type { Io } from './io.ts';
import { render } from './render/result.ts';

interface ContextInputs {
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
      import('../effects/concurrency.ts'),
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
