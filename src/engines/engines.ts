import type { EngineCommand, EngineDescription, EngineRegistration } from '../contract/engine.ts';
import { ENGINE_NAME } from '../contract/engine.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import type { LockDeps } from './engines-lock.ts';
import { whileLocked } from './engines-lock.ts';
import {
  loadEngineRegistrations,
  registrationsFile,
  saveEngineRegistrations,
  removeInstalled,
} from './registrations.ts';

/** The result of a test in which an engine was started and spoke a few words. */
export type EngineInspection =
  | { readonly isSound: true; readonly description: EngineDescription }
  | {
      readonly isSound: false;
      readonly fault: string;
      /** Additional output of the engine, such as stderr. */
      readonly detail: string | undefined;
    };

export interface EngineDeps extends LockDeps {
  /** Starts an engine and checks that it follows the protocol for engines (docs/engines.md). */
  readonly inspect: (command: EngineCommand) => Promise<EngineInspection>;
}

/**
 * Tests that an engine can speak, and adds it to the list of engines. Replaces an engine with the same name.
 * @throws Failure: `usage` for an invalid name, `config` if the engine does not work, `output` or `state` if the list
 *   cannot be written
 */
export async function addEngine(
  command: EngineCommand,
  deps: EngineDeps,
): Promise<EngineRegistration> {
  requireEngineName(command.name);
  const registration = { ...command, ...(await requireWorkingEngine(command, deps)) };
  await whileLocked(deps, () => register(registration, deps));
  return registration;
}

/** Tests an engine and returns its description. @throws Failure of kind `config` if the engine does not work */
export async function requireWorkingEngine(
  command: EngineCommand,
  { inspect }: EngineDeps,
): Promise<EngineDescription> {
  const inspection = await inspect(command);
  if (inspection.isSound) return inspection.description;
  throw configFailure(
    inspection.fault.replace(/\.$/, ''),
    inspection.detail === undefined
      ? 'docs/engines.md describes what an engine must do.'
      : `Details: ${inspection.detail}`,
  );
}

/** Adds an engine to the list of engines, or replaces the engine with the same name. Call only in `whileLocked`. */
export async function register(registration: EngineRegistration, deps: EngineDeps): Promise<void> {
  const file = registrationsFile(deps.enginesFolder);
  const engines = await loadEngineRegistrations(deps.system.files, file);
  const others = engines.filter(({ name }) => name !== registration.name);
  await saveEngineRegistrations(file, [...others, registration], deps.system);
}

/** @throws Failure of kind `usage` for an invalid name of an engine */
export function requireEngineName(name: string): void {
  if (!new RegExp(ENGINE_NAME).test(name)) {
    throw usageFailure(
      `"${name}" is not a valid engine name`,
      'Use 1 to 32 characters of a to z, 0 to 9 and -, with a letter first.',
    );
  }
}

/** Finds an engine in the list of engines. @throws Failure of kind `usage` for an unknown name */
export async function findEngine(
  name: string,
  { enginesFolder, system: { files } }: EngineDeps,
): Promise<EngineRegistration> {
  const engines = await loadEngineRegistrations(files, registrationsFile(enginesFolder));
  const engine = engines.find((one) => one.name === name);
  if (engine === undefined) throw unknown(name, engines);
  return engine;
}

/**
 * Removes an engine from the list of engines. Deletes its files if foley installed the engine.
 * @returns the engine and the deleted folders
 * @throws Failure of kind `usage` for an unknown name
 */
export function removeEngine(name: string, deps: LockDeps): ReturnType<typeof removeListed> {
  return whileLocked(deps, () => removeListed(name, deps));
}

/** Removes an engine like {@link removeEngine}. Call only in `whileLocked`. */
export async function removeListed(
  name: string,
  deps: LockDeps,
): Promise<{ readonly engine: EngineRegistration; readonly deleted: readonly string[] }> {
  const file = registrationsFile(deps.enginesFolder);
  const engines = await loadEngineRegistrations(deps.system.files, file);
  const engine = engines.find((one) => one.name === name);
  if (engine === undefined) throw unknown(name, engines);
  await saveEngineRegistrations(
    file,
    engines.filter((one) => one !== engine),
    deps.system,
  );
  return { engine, deleted: await removeInstalled(name, deps.system.files, deps.enginesFolder) };
}

function unknown(name: string, engines: readonly EngineRegistration[]): Error {
  const names = engines.map((one) => one.name);
  const added =
    names.length === 0 ? 'No engines are added.' : `Added engines: ${names.join(', ')}.`;
  return usageFailure(`no such engine: ${name}`, nearestHint(name, names, added));
}
