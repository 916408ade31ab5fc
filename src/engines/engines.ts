import type { EngineCommand, EngineDescription, EngineRegistration } from '../contract/engine.ts';
import { ENGINE_NAME } from '../contract/engine.ts';
import type { FileDeps } from '../durable/files.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import {
  loadEngineRegistrations,
  registrationsFile,
  saveEngineRegistrations,
  removeInstalled,
} from './registrations.ts';

/** What came of starting an engine and having it say a few words. */
export type Inspection =
  | { readonly isSound: true; readonly description: EngineDescription }
  | {
      readonly isSound: false;
      /** A sentence. */
      readonly fault: string;
      /** More of it, such as what the engine wrote to stderr. */
      readonly detail: string | undefined;
    };

export interface EngineDeps extends FileDeps {
  /** Folder of the engines: what is installed, and the list. */
  readonly enginesFolder: string;
  /** Starts an engine to see whether it keeps the protocol of docs/engines.md. */
  readonly inspect: (command: EngineCommand) => Promise<Inspection>;
}

/**
 * Adds an engine of the user's own, or puts it in the place of the one with that name, once it has
 * shown that it can speak.
 * @throws Failure: usage for a name that may not be, config for an engine that does not work, output
 * or state when the list cannot be written
 */
export async function addEngine(
  command: EngineCommand,
  deps: EngineDeps,
): Promise<EngineRegistration> {
  requireEngineName(command.name);
  const registration = { ...command, ...(await requireSound(command, deps)) };
  await register(registration, deps);
  return registration;
}

/** @throws Failure (config) when the engine does not work */
export async function requireSound(
  command: EngineCommand,
  { inspect }: Pick<EngineDeps, 'inspect'>,
): Promise<EngineDescription> {
  const inspection = await inspect(command);
  if (inspection.isSound) return inspection.description;
  throw configFailure(
    withoutStop(inspection.fault),
    inspection.detail === undefined
      ? 'docs/engines.md says what an engine has to do.'
      : `More about it: ${inspection.detail}`,
  );
}

/** Writes an engine into the list, in the place of one of the same name. */
export async function register(registration: EngineRegistration, deps: EngineDeps): Promise<void> {
  const file = registrationsFile(deps.enginesFolder);
  const engines = await loadEngineRegistrations(deps.files, file);
  const others = engines.filter(({ name }) => name !== registration.name);
  await saveEngineRegistrations(file, [...others, registration], deps);
}

function withoutStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence.slice(0, -1) : sentence;
}

/** Engines that are part of foley. */
const BUILT_IN = new Set(['flite']);

/**
 * Refuses what cannot be the name of an added engine.
 * @throws Failure (usage)
 */
export function requireEngineName(name: string): void {
  if (!new RegExp(ENGINE_NAME).test(name)) {
    throw usageFailure(
      `"${name}" cannot be the name of an engine`,
      'A name has 1 to 32 of the characters a to z, 0 to 9 and -, a letter first.',
    );
  }
  if (BUILT_IN.has(name)) {
    throw usageFailure(`${name} is part of foley`, 'Choose another name for yours.');
  }
}

/**
 * Forgets an engine, and deletes it if foley installed it.
 * @returns the engine, and the folders that were deleted
 * @throws Failure (usage) for a name that was not added
 */
export async function removeEngine(
  name: string,
  deps: Omit<EngineDeps, 'inspect'>,
): Promise<{ readonly engine: EngineRegistration; readonly deleted: readonly string[] }> {
  const file = registrationsFile(deps.enginesFolder);
  const engines = await loadEngineRegistrations(deps.files, file);
  const engine = engines.find((one) => one.name === name);
  if (engine === undefined) throw unknown(name, engines);
  await saveEngineRegistrations(
    file,
    engines.filter((one) => one !== engine),
    deps,
  );
  return { engine, deleted: await removeInstalled(name, deps) };
}

function unknown(name: string, engines: readonly EngineRegistration[]): Error {
  const names = engines.map((one) => one.name);
  const [nearest] = closest(name, names, 1);
  const added = names.length === 0 ? 'None was added.' : `Added: ${names.join(', ')}.`;
  return usageFailure(
    `there is no engine "${name}"`,
    nearest === undefined ? added : `Did you mean "${nearest}"?`,
  );
}
