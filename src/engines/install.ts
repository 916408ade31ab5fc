import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineCommand, EngineRegistration } from '../contract/engine.ts';
import type { System } from '../system/system.ts';
import { randomHex, writeAll } from '../durable/files.ts';
import { requireSpace } from '../durable/free-space.ts';
import { awaitLateSignal } from '../system/processes.ts';
import { configFailure, Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { EngineDeps } from './engines.ts';
import { register, requireEngineName, requireWorkingEngine } from './engines.ts';
import { whileLocked } from './engines-lock.ts';
import type { NaturalEngineName } from './natural-engines.ts';
import { PACKAGES_BYTES } from './natural-engines.ts';
import {
  isInstalledIn,
  removeInstalled,
  loadEngineRegistrations,
  registrationsFile,
  makeFolder,
  stateFailure,
} from './registrations.ts';

export const ESPEAK_NG = 'espeak-ng';

/** The adapter that lets servers speak. */
const REMOTE = 'remote';

/** The folder of the adapters that come with foley. An adapter is a program that connects foley to an engine. */
export const ADAPTERS_FOLDER = fileURLToPath(new URL('../../engines/', import.meta.url));

/** What npm does with the optional packages of an adapter. espeak-ng is optional for Kokoro. */
export type OptionalPackages = 'include' | 'omit';

export interface InstallDeps extends EngineDeps {
  /** The folder of all adapters; an adapter is a program that connects foley to an engine. */
  readonly adapterFolder: string;
  /** Installs the packages of an adapter, with the optional ones or without. */
  readonly installPackages: (folder: string, optional: OptionalPackages) => Promise<void>;
  /** The processor architecture, such as `x64`; default: the architecture of this process. */
  readonly arch?: string;
}

// A file of the package, and where it is in the folder of the installation.
interface AdapterFile {
  readonly from: string;
  readonly to: string;
}

// The program that connects foley to an engine.
interface Adapter {
  readonly name: string;
  // The folder of the adapter in the package.
  readonly folder: AdapterFolder;
  // Arguments of `node`, which runs in the folder of the installation.
  readonly args: readonly string[];
  readonly files: readonly AdapterFile[];
  readonly optional: OptionalPackages;
  // `cwd` is the folder of the installation.
  readonly afterPackages?: (cwd: string, deps: InstallDeps) => Promise<void>;
}

/**
 * Installs espeak-ng (GPL-3.0-or-later) and its adapter in a new folder, and adds espeak-ng to the list of engines.
 * Keeps the previous installation if the new one does not work.
 * @throws Failure if espeak-ng cannot be installed or does not work
 */
export async function installEspeakNg(deps: InstallDeps): Promise<EngineRegistration> {
  const files = await adapterFiles(ESPEAK_NG, deps);
  const args = [`${ESPEAK_NG}/engine.mjs`];
  const adapter = { name: ESPEAK_NG, folder: ESPEAK_NG, args, files, optional: 'include' } as const;
  return whileLocked(deps, () => install(adapter, deps));
}

/**
 * Adds servers with an OpenAI-shaped `/v1/audio/speech` as an engine, after a test that they speak
 * (docs/engines.md#servers). Keeps an engine of the same name if the servers do not work.
 * @param args the arguments of the adapter, such as `--url URL`
 * @throws Failure of kind `usage` for an invalid name, `config` if the servers do not work, `output` or `state` if the
 * adapter cannot be stored
 */
export async function addRemoteEngine(
  name: string,
  args: readonly string[],
  deps: InstallDeps,
): Promise<EngineRegistration> {
  requireEngineName(name);
  const files = await adapterFiles(REMOTE, deps);
  const adapted = [`${REMOTE}/engine.mjs`, ...args];
  const adapter: Adapter = { name, folder: REMOTE, args: adapted, files, optional: 'omit' };
  return whileLocked(deps, () => install(adapter, deps));
}

/**
 * Installs the adapter of an engine with natural voices, and adds the engine to the list of engines. Keeps an
 * installation whose adapter is current and works. Call only in `whileLocked`.
 * @param modelFolder the folder with the model and the voices of the engine
 * @param optional whether a voice of the folder needs the optional packages
 * @throws Failure if the engine cannot be installed or does not work
 */
export async function installNaturalEngine(
  name: NaturalEngineName,
  modelFolder: string,
  optional: OptionalPackages,
  deps: InstallDeps,
): Promise<EngineRegistration> {
  const args = [`${name}/engine.mjs`, '--model-folder', modelFolder];
  const cwd = await findInstallation(name, optional, deps);
  if (cwd !== undefined) {
    const command: EngineCommand = { name, command: 'node', args, cwd };
    const inspection = await deps.inspect(command);
    if (inspection.isSound) {
      const registration = { ...command, ...inspection.description };
      await register(registration, deps);
      return registration;
    }
  }
  const { files } = deps.system;
  const { enginesFolder } = deps;
  if (needsPackages(name)) {
    const what = `the packages of ${name} need`;
    await requireSpace(enginesFolder, PACKAGES_BYTES, { files, what, variable: 'XDG_STATE_HOME' });
  }
  const adapted = await adapterFiles(name, deps);
  const adapter: Adapter = { name, folder: name, args, files: adapted, optional };
  return install({ ...adapter, afterPackages: removeOtherPlatforms }, deps);
}

/**
 * Returns the folder of an installed engine; undefined if its adapter is missing or outdated, or if a needed optional
 * package is missing.
 */
export async function findInstallation(
  name: NaturalEngineName,
  optional: OptionalPackages,
  deps: InstallDeps,
): Promise<string | undefined> {
  const { files } = deps.system;
  const { enginesFolder } = deps;
  const engines = await loadEngineRegistrations(files, registrationsFile(enginesFolder));
  const cwd = engines.find((engine) => engine.name === name)?.cwd;
  if (cwd === undefined || !isInstalledIn({ name, cwd }, enginesFolder)) return undefined;
  if (optional === 'include' && !(await isThere(path.join(cwd, ESPEAK_PACKAGE), files))) {
    return undefined;
  }
  return (await hasAdapter(cwd, await adapterFiles(name, deps), files)) ? cwd : undefined;
}

const ESPEAK_PACKAGE = 'node_modules/@echogarden/espeak-ng-emscripten/package.json';

async function isThere(file: string, files: System['files']): Promise<boolean> {
  return files.lstat(file).then(
    () => true,
    () => false,
  );
}

// ONNX Runtime has the libraries of all platforms, in folders such as `napi-v6/linux/x64`: 240 of its 290 MB.
async function removeOtherPlatforms(
  cwd: string,
  { arch = process.arch, system: { files, platform } }: InstallDeps,
): Promise<void> {
  const root = path.join(cwd, 'node_modules/onnxruntime-node/bin');
  const namesIn = (folder: string): Promise<string[]> => files.readdir(folder).catch(() => []);
  for (const version of await namesIn(root)) {
    for (const system of await namesIn(path.join(root, version))) {
      for (const processor of await namesIn(path.join(root, version, system))) {
        if (system === platform && processor === arch) continue;
        await files.rm(path.join(root, version, system, processor), { recursive: true });
      }
    }
  }
}

async function install(adapter: Adapter, deps: InstallDeps): Promise<EngineRegistration> {
  const { name } = adapter;
  const cwd = path.join(deps.enginesFolder, `${name}.${randomHex(deps.system.random, 8)}`);
  const command: EngineCommand = { name, command: 'node', args: [...adapter.args], cwd };
  await makeFolder(cwd, deps.system.files);
  try {
    await copyAdapter(cwd, adapter, deps);
    if (needsPackages(adapter.folder)) await deps.installPackages(cwd, adapter.optional);
    await adapter.afterPackages?.(cwd, deps);
    const registration = { ...command, ...(await requireWorkingEngine(command, deps)) };
    await register(registration, deps);
    await tidy(name, deps, cwd);
    return registration;
  } catch (error) {
    await tidy(name, deps);
    throw stateFailure(error, deps.enginesFolder);
  }
}

// Ignores errors, because the next installation tries again.
async function tidy(name: string, deps: InstallDeps, inUse?: string): Promise<void> {
  try {
    const { files } = deps.system;
    const { enginesFolder } = deps;
    const engines = await loadEngineRegistrations(files, registrationsFile(enginesFolder));
    const keep = inUse ?? engines.find((engine) => engine.name === name)?.cwd;
    await removeInstalled(name, files, enginesFolder, keep);
  } catch {}
}

const ADAPTER_FILE = /\.(?:json|md|mjs)$/;
const PACKAGE_FILE = /^package(?:-lock)?\.json$/;

// Files of foley that an adapter loads. They stay beside each other as in the package.
const READER_FILES =
  'dist/packages/kernels.wasm assets/voice/LICENSE assets/voice/NOTICE assets/voice/contractions.txt assets/voice/tagger.txt assets/voice/unknown-words.safetensors assets/voice/words.txt';
const FOLEY_FILES: Readonly<Partial<Record<string, string>>> = {
  hibari: `dist/hibari-voice.cjs dist/packages/relaxed-kernels.wasm assets/voice/words-gb.txt ${READER_FILES}`,
  kokoro: `dist/english-reader.cjs ${READER_FILES}`,
};

type AdapterFolder = NaturalEngineName | typeof ESPEAK_NG | typeof REMOTE;

// foley itself computes the model of hibari, and servers have theirs.
function needsPackages(folder: AdapterFolder): boolean {
  return folder !== 'hibari' && folder !== REMOTE;
}

// npm needs package.json and its lock file at the top of the installation. The first folder that has them is used.
async function adapterFiles(
  name: AdapterFolder,
  { adapterFolder, system: { files } }: InstallDeps,
): Promise<readonly AdapterFile[]> {
  const found = await Promise.all(
    [name, 'parts'].map(async (folder) =>
      (await files.readdir(path.join(adapterFolder, folder)))
        .filter((file) => ADAPTER_FILE.test(file))
        .map((file) => ({
          from: path.join(adapterFolder, folder, file),
          to: PACKAGE_FILE.test(file) ? file : path.join(folder, file),
        })),
    ),
  );
  const own = FOLEY_FILES[name]?.split(' ') ?? [];
  const all = [
    ...found.flat().filter(({ to }) => needsPackages(name) || !PACKAGE_FILE.test(to)),
    ...own.map((file) => ({ from: path.join(adapterFolder, '..', file), to: file })),
  ];
  return all.filter(({ to }, index) => all.findIndex((one) => one.to === to) === index);
}

async function copyAdapter(
  cwd: string,
  adapter: Adapter,
  { system: { files } }: InstallDeps,
): Promise<void> {
  for (const { from, to } of adapter.files) {
    const target = path.join(cwd, to);
    if (path.dirname(to) !== '.') await makeFolder(path.dirname(target), files);
    const content = await files.readFile(from);
    const copy = await files.open(target, 'wx', 0o600);
    try {
      await writeAll(copy, content);
    } finally {
      await copy.close();
    }
  }
}

async function hasAdapter(
  cwd: string,
  adapted: readonly AdapterFile[],
  files: System['files'],
): Promise<boolean> {
  try {
    for (const { from, to } of adapted) {
      const [wanted, found] = await Promise.all([
        files.readFile(from),
        files.readFile(path.join(cwd, to)),
      ]);
      if (!wanted.equals(found)) return false;
    }
    return true;
  } catch {
    return false;
  }
}

// No install scripts run, and the lock file determines versions and checksums.
const ARGUMENTS = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'];

const QUOTED_OUTPUT_MAX_CHARACTERS = 500;

/**
 * Runs `npm ci` in a folder that has a `package-lock.json`.
 * @throws Failure of kind `config` if npm is missing or fails; on abort, the signal's abort reason
 */
export async function installPackages(
  folder: string,
  optional: OptionalPackages,
  {
    env,
    signal,
  }: {
    // Includes the settings of npm for registry, proxy and cache.
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { execa } = await import('execa');
  // The settings of the user may omit optional packages.
  const result = await execa('npm', [...ARGUMENTS, `--${optional}=optional`], {
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
  await awaitLateSignal(signal);
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
