import { homedir } from 'node:os';
import path from 'node:path';
import type { Failure } from '../errors/failure.ts';
import { configFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

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
  /** The folder with the data of `foley serve`, if its flags change accounts or inject errors. */
  readonly servedData: string;
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
  /** Empty if the home directory is unknown. */
  readonly homeDirectory: string;
}

/** Returns the home directory of the user; empty if `HOME` is not set and the user has no account on this system. */
export function findHome(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

/**
 * Returns the paths of foley's files and folders. The XDG variables override the default folders of the platform. Empty
 * and relative values of these variables are ignored, as the XDG specification requires.
 * @throws Failure of kind `config` if a default folder is needed and the home directory is unknown or relative
 */
export function resolvePaths({ env, platform, homeDirectory }: PathInputs): Paths {
  const style = platform === 'win32' ? path.win32 : path.posix;
  const join: Join = (...parts) => style.join(...parts);
  const folder = (name: string): string | undefined => {
    const value = env[name];
    return value !== undefined && style.isAbsolute(value) ? value : undefined;
  };
  // In a relative folder, each working directory would have its own journal of billed requests.
  const usual = style.isAbsolute(homeDirectory)
    ? usualFolders(platform, (...parts) => join(homeDirectory, ...parts), folder, join)
    : NO_FOLDERS;
  const under = (name: string, fallback: string | undefined): string => {
    const given = folder(name);
    if (given !== undefined) return join(given, 'foley');
    if (fallback === undefined) throw unknownHome(name, homeDirectory);
    return fallback;
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
    servedData: join(state, 'served'),
    engines: join(state, 'engines'),
    models: join(under('XDG_DATA_HOME', usual.data ?? state), 'models'),
    runtime: under('XDG_RUNTIME_DIR', join(state, 'run')),
  };
}

function unknownHome(variable: string, homeDirectory: string): Failure {
  if (homeDirectory !== '') {
    return configFailure(
      `HOME is "${display(homeDirectory)}", which is not an absolute path`,
      'Set HOME to a folder such as /home/ada.',
    );
  }
  return configFailure(
    `foley has no folder for its files: HOME and ${variable} are not set, and this user has no home directory`,
    'Set HOME to a folder that this user can write to.',
  );
}

type Join = (...parts: string[]) => string;

const NO_FOLDERS = { cache: undefined, config: undefined, data: undefined, state: undefined };

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
