import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineCommand, EngineRegistration } from '../contract/engine.ts';
import { randomHex } from '../durable/files.ts';
import { configFailure, Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { EngineDeps } from './engines.ts';
import { register, requireWorkingEngine } from './engines.ts';
import {
  removeInstalled,
  loadEngineRegistrations,
  registrationsFile,
  makeFolder,
  stateFailure,
} from './registrations.ts';

export const ESPEAK_NG = 'espeak-ng';

/** The folder of the espeak-ng adapter that comes with foley. The relative path is the same in `src` and `dist`. */
export const ADAPTER_FOLDER = fileURLToPath(new URL('../../engines/espeak-ng/', import.meta.url));

export interface InstallDeps extends EngineDeps {
  readonly adapterFolder: string;
  readonly installPackages: (folder: string) => Promise<void>;
}

/**
 * Installs espeak-ng (GPL-3.0-or-later) with its adapter in a new folder, and adds it to the list of engines. The
 * previous installation stays in use until the new one works.
 * @throws Failure if espeak-ng cannot be installed or does not work
 */
export async function installEspeakNg(deps: InstallDeps): Promise<EngineRegistration> {
  const cwd = path.join(deps.enginesFolder, `${ESPEAK_NG}.${randomHex(deps, 8)}`);
  const command: EngineCommand = { name: ESPEAK_NG, command: 'node', args: ['engine.mjs'], cwd };
  await makeFolder(cwd, deps.files);
  try {
    await copyAdapter(cwd, deps);
    await deps.installPackages(cwd);
    const registration = { ...command, ...(await requireWorkingEngine(command, deps)) };
    await register(registration, deps);
    await tidy(deps, cwd);
    return registration;
  } catch (error) {
    await tidy(deps);
    throw stateFailure(error, deps.enginesFolder);
  }
}

// Ignores errors, because the next installation tries again.
async function tidy(deps: InstallDeps, inUse?: string): Promise<void> {
  try {
    const { enginesFolder, files } = deps;
    const engines = await loadEngineRegistrations(files, registrationsFile(enginesFolder));
    const keep = inUse ?? engines.find(({ name }) => name === ESPEAK_NG)?.cwd;
    await removeInstalled(ESPEAK_NG, files, enginesFolder, keep);
  } catch {}
}

const ADAPTER_FILE = /\.mjs$|^package(?:-lock)?\.json$|^README\.md$/;

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

// No install scripts run, and the lock file determines versions and checksums.
const ARGUMENTS = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'];

const QUOTED_OUTPUT_MAX_CHARACTERS = 500;

/**
 * Installs the packages of a folder's `package-lock.json`.
 * @throws Failure (config) if npm is missing or fails; on abort, the signal's abort reason
 */
export async function installPackages(
  folder: string,
  {
    env,
    signal,
  }: {
    /** Environment variables for npm, including its settings for registry, proxy and cache. */
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { execa } = await import('execa');
  const result = await execa('npm', ARGUMENTS, {
    cwd: folder,
    env: withoutOurs(env),
    extendEnv: false,
    cancelSignal: signal,
    stdin: 'ignore',
    all: true,
    reject: false,
  });
  signal.throwIfAborted();
  if (!result.failed) return;
  if (result.exitCode === undefined) {
    throw configFailure(
      'cannot run npm, which installs engines',
      'npm comes with Node.js: check that it is on your PATH.',
    );
  }
  throw new Failure(`npm failed to install the engine (exit code ${result.exitCode})`, {
    code: 'config',
    exit: 'usage',
    hint: `Output of npm: ${display(result.all.trim(), { max: QUOTED_OUTPUT_MAX_CHARACTERS })}`,
  });
}

// npm gets neither the API key nor any other variable of foley.
function withoutOurs(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || /^FOLEY_/i.test(name) ? [] : [[name, value]],
    ),
  );
}
