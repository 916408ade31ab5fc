import { ENGINE_NAME } from '../contract/schemas/engine.ts';
import { usageFailure } from '../errors/failure.ts';

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
