import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineCommand, EngineRegistration } from '../contract/engine.ts';
import { randomHex } from '../durable/files.ts';
import { configFailure, Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { EngineDeps } from './engines.ts';
import { register, requireSound } from './engines.ts';
import {
  removeInstalled,
  loadEngineRegistrations,
  registrationsFile,
  makeFolder,
  stateFailure,
} from './registrations.ts';

/** The name that stands for the engine that foley knows how to install. */
export const ESPEAK_NG = 'espeak-ng';

/**
 * The program around espeak-ng, which comes with foley. Sources (`src/engines/`) and chunks
 * (`dist/chunks/`) are both two folders deep, so that the path is the same for either.
 */
export const ADAPTER_FOLDER = fileURLToPath(new URL('../../engines/espeak-ng/', import.meta.url));

export interface InstallDeps extends EngineDeps {
  /** `ADAPTER_FOLDER`. */
  readonly adapterFolder: string;
  /** Installs what a folder's package-lock.json names. */
  readonly installPackages: (folder: string) => Promise<void>;
}

/**
 * Installs espeak-ng (GPL-3.0-or-later) from the package registry for this user, in a new folder
 * among the engines, with the program that makes an engine of it, and adds it. What was installed
 * before stays in use until the new one has shown that it can speak and is in the list.
 * @throws Failure when it cannot be installed or does not work
 */
export async function installEspeakNg(deps: InstallDeps): Promise<EngineRegistration> {
  const cwd = path.join(deps.enginesFolder, `${ESPEAK_NG}.${randomHex(deps, 8)}`);
  const command: EngineCommand = { name: ESPEAK_NG, command: 'node', args: ['engine.mjs'], cwd };
  await makeFolder(cwd, deps.files);
  try {
    await copyAdapter(cwd, deps);
    await deps.installPackages(cwd);
    const registration = { ...command, ...(await requireSound(command, deps)) };
    await register(registration, deps);
    await tidy(deps, cwd);
    return registration;
  } catch (error) {
    await tidy(deps);
    throw stateFailure(error, deps.enginesFolder);
  }
}

/** Deletes what is installed and not in use; what cannot be deleted now is the next time. */
async function tidy(deps: InstallDeps, inUse?: string): Promise<void> {
  try {
    const keep = inUse ?? (await installedNow(deps));
    await removeInstalled(ESPEAK_NG, { ...deps, keep });
  } catch {
    // Nothing depends on it.
  }
}

async function installedNow({ files, enginesFolder }: InstallDeps): Promise<string | undefined> {
  const engines = await loadEngineRegistrations(files, registrationsFile(enginesFolder));
  return engines.find(({ name }) => name === ESPEAK_NG)?.cwd;
}

const ADAPTER_FILE = /\.mjs$|^package(?:-lock)?\.json$|^README\.md$/;

/** The files are small. */
async function copyAdapter(to: string, { adapterFolder, files }: InstallDeps): Promise<void> {
  const names = await files.readdir(adapterFolder);
  for (const name of names.filter((one) => ADAPTER_FILE.test(one))) {
    const content = await files.readFile(path.join(adapterFolder, name));
    const copy = await files.open(path.join(to, name), 'wx', 0o600);
    try {
      await copy.writeFile(content);
    } finally {
      await copy.close();
    }
  }
}

export interface RunNpmOptions {
  /** npm's environment: registry, proxy and cache are its own settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Nothing that is downloaded runs while it is installed; versions and checksums are in the lock. */
const ARGUMENTS = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'];

/** How much of what npm complained of is shown. */
const LONGEST_COMPLAINT = 500;

/**
 * Installs what a folder's package-lock.json names.
 * @throws Failure (config) when there is no npm or it fails, and the signal's reason
 */
export async function installPackages(folder: string, options: RunNpmOptions): Promise<void> {
  const { execa } = await import('execa');
  const result = await execa('npm', ARGUMENTS, {
    cwd: folder,
    env: withoutOurs(options.env),
    extendEnv: false,
    cancelSignal: options.signal,
    stdin: 'ignore',
    all: true,
    reject: false,
  });
  options.signal.throwIfAborted();
  if (!result.failed) return;
  if (result.exitCode === undefined) {
    throw configFailure(
      'npm, which installs engines, could not be started',
      'It comes with Node.js; see that it is on your PATH.',
    );
  }
  throw new Failure(`npm could not install the engine (exit code ${result.exitCode})`, {
    code: 'config',
    exit: 'usage',
    hint: `It said: ${display(result.all.trim(), { max: LONGEST_COMPLAINT })}`,
  });
}

/** Without the key of the hosted service and whatever else is only for foley. */
function withoutOurs(env: RunNpmOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || /^FOLEY_/i.test(name) ? [] : [[name, value]],
    ),
  );
}
