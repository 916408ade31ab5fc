import type {
  EngineCommand,
  EngineDescription,
  EngineRegistration,
} from '../contract/schemas/engine.ts';
import { configFailure } from '../errors/failure.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { requireEngineName } from './engine-name.ts';
import {
  loadEngineRegistrations,
  registrationsFile,
  saveEngineRegistrations,
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
