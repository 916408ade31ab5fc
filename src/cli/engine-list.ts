import type { EngineRegistration } from '../contract/engine.ts';
import type { EngineDeps } from '../engines/engines.ts';
import type { Context } from './command.ts';

/** What the functions around engines work with. */
export async function engineDeps(context: Context): Promise<EngineDeps> {
  const { engineInspector } = await import('../engines/inspector.ts');
  const { clock, files, platform, random } = context;
  const { engines } = await context.paths();
  return {
    clock,
    files,
    platform,
    random,
    enginesFolder: engines,
    inspect: engineInspector(context),
  };
}

/** An engine as `--json` shows it. */
export function engineDocument(engine: EngineRegistration): unknown {
  const { name, version, license, command, args, cwd, voices } = engine;
  return { name, version, license, command, args, cwd, voices };
}

/** The languages of an engine's voices, each once. */
export function languagesOf({ voices }: EngineRegistration): string {
  return [...new Set(voices.map(({ language }) => language))].join(', ');
}
