import type { EngineRegistration } from '../contract/engine.ts';
import type { EngineDeps } from '../engines/engines.ts';
import type { Context } from './command.ts';

/** Returns the dependencies of the functions in `src/engines/`. */
export async function engineDeps(context: Context): Promise<EngineDeps> {
  const { engineInspector } = await import('../engines/inspector.ts');
  const { engines } = await context.paths();
  return { ...context, enginesFolder: engines, inspect: engineInspector(context) };
}

/** Returns the fields of an engine for `--json`. */
export function engineDocument(engine: EngineRegistration): unknown {
  const { name, version, license, command, args, cwd, voices } = engine;
  return { name, version, license, command, args, cwd, voices };
}

/** Returns the languages of an engine's voices. */
export function languagesOf({ voices }: EngineRegistration): string {
  return [...new Set(voices.map(({ language }) => language))].join(', ');
}
