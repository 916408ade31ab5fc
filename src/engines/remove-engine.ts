import type { EngineRegistration } from '../contract/schemas/engine.ts';
import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import type { EngineDeps } from './add-engine.ts';
import { removeInstalled } from './installed.ts';
import {
  loadEngineRegistrations,
  registrationsFile,
  saveEngineRegistrations,
} from './registrations.ts';

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
