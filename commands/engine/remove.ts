import type { CommandDefinition } from '../../src/cli/command.ts';
import { engineDeps, engineDocument } from '../shared/engine-list.ts';
import type { EngineDocument } from '../shared/engine-list.ts';

/** The engine that was removed. */
export interface RemovedDocument {
  /** Null if only files of the engine were left. */
  readonly removed: EngineDocument | null;
  /** What else was deleted. */
  readonly deleted: readonly string[];
}

export const definition: CommandDefinition<object, RemovedDocument> = {
  configure(command) {
    command
      .description(
        'Removes an engine. Deletes its program, voices and models if foley installed them.',
      )
      .argument('<name>', 'name of the engine');
  },
  async run(context, { args: [name = ''] }) {
    const [{ isNaturalEngine }, { removeNaturalEngine }, { removeEngine }] = await Promise.all([
      import('../../src/engines/natural-engines.ts'),
      import('../../src/engines/add-natural-engine.ts'),
      import('../../src/engines/engines.ts'),
    ]);
    const deps = await engineDeps(context);
    const { deleted, engine } = isNaturalEngine(name)
      ? await removeNaturalEngine(name, deps)
      : await removeEngine(name, deps);
    const { stopEngines } = await import('../../src/engines/inspector.ts');
    await stopEngines((await context.paths()).runtime, name, true);
    context.io.notice(`removed ${[name, ...deleted].join(' and ')}`);
    return { data: { removed: engine === undefined ? null : engineDocument(engine), deleted } };
  },
};
