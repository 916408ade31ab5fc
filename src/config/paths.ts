import path from 'node:path';

export interface Paths {
  readonly config: string;
  /**
   * The folder with the journal of billed requests, with undelivered audio and with the data of the embedded service.
   */
  readonly state: string;
  readonly cache: string;
  readonly settingsFile: string;
  /** The file with the stored accounts and their API keys. */
  readonly accountsFile: string;
  readonly serviceData: string;
  /** The folder with the speech engines that the user added, and `engines.json`. */
  readonly engines: string;
  /** The folder with the voices and models of the engines that foley installs. */
  readonly models: string;
  /** The folder with the sockets of engine processes that stay ready between commands. */
  readonly runtime: string;
}

export interface PathInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly homeDirectory: string;
}

/**
 * Returns the paths of foley's files and folders. The XDG variables override the default folders of the platform. Empty
 * and relative values of these variables are ignored, as the XDG specification requires.
 */
export function resolvePaths({ env, platform, homeDirectory }: PathInputs): Paths {
  const style = platform === 'win32' ? path.win32 : path.posix;
  const join: Join = (...parts) => style.join(...parts);
  const folder = (name: string): string | undefined => {
    const value = env[name];
    return value !== undefined && style.isAbsolute(value) ? value : undefined;
  };
  const usual = usualFolders(platform, (...parts) => join(homeDirectory, ...parts), folder, join);
  const under = (name: string, fallback: string): string => {
    const given = folder(name);
    return given === undefined ? fallback : join(given, 'foley');
  };
  const config = under('XDG_CONFIG_HOME', usual.config);
  const state = under('XDG_STATE_HOME', usual.state);
  return {
    config,
    state,
    cache: under('XDG_CACHE_HOME', usual.cache),
    settingsFile: join(config, 'config.json'),
    accountsFile: join(config, 'accounts.json'),
    serviceData: join(state, 'service'),
    engines: join(state, 'engines'),
    models: join(under('XDG_DATA_HOME', usual.data), 'models'),
    runtime: under('XDG_RUNTIME_DIR', join(state, 'run')),
  };
}

type Join = (...parts: string[]) => string;

function usualFolders(
  platform: NodeJS.Platform,
  inHome: Join,
  folder: (name: string) => string | undefined,
  join: Join,
): Record<'cache' | 'config' | 'data' | 'state', string> {
  if (platform === 'win32') {
    const roaming = folder('APPDATA') ?? inHome('AppData', 'Roaming');
    const local = folder('LOCALAPPDATA') ?? inHome('AppData', 'Local');
    return {
      config: join(roaming, 'foley', 'Config'),
      state: join(local, 'foley', 'State'),
      cache: join(local, 'foley', 'Cache'),
      data: join(local, 'foley', 'Data'),
    };
  }
  if (platform === 'darwin') {
    return {
      config: inHome('Library', 'Preferences', 'foley'),
      state: inHome('Library', 'Application Support', 'foley'),
      cache: inHome('Library', 'Caches', 'foley'),
      data: inHome('Library', 'Application Support', 'foley'),
    };
  }
  return {
    config: inHome('.config', 'foley'),
    state: inHome('.local', 'state', 'foley'),
    cache: inHome('.cache', 'foley'),
    data: inHome('.local', 'share', 'foley'),
  };
}
