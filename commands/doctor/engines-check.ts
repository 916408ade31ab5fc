import type { Context } from '../../src/cli/context.ts';
import type { EngineRegistration } from '../../src/contract/schemas/engine.ts';
import { engineDeps, languagesOf } from '../engine/engine-words.ts';
import type { Check, Finding } from './finding.ts';
import { ok, problem } from './finding.ts';

/** The engines that were added can still be started; without any, what could be added. */
export const enginesCheck: Check = {
  name: 'engines',
  async look(context) {
    const { loadEngineRegistrations, registrationsFile } =
      await import('../../src/engines/registrations.ts');
    const { engines: folder } = await context.paths();
    const engines = await loadEngineRegistrations(context.files, registrationsFile(folder));
    if (engines.length === 0) {
      return [ok('English only; `foley engine add espeak-ng` adds 18 languages')];
    }
    return Promise.all(engines.map((engine) => lookAt(context, engine)));
  },
};

async function lookAt(context: Context, engine: EngineRegistration): Promise<Finding> {
  const { inspect } = await engineDeps(context);
  const { args, command, cwd, name, voices } = engine;
  const found = await inspect({ name, command, args, cwd });
  if (found.isSound) {
    return ok(`${name} works and speaks ${languagesOf(engine)}`);
  }
  return problem(
    `${name} does not work, and its voices (${voices.length}) cannot speak: ${found.fault.replace(/\.$/, '')}`,
    `Add it again with \`foley engine add\`, or remove it: foley engine remove ${name}`,
  );
}
