import type { CommandDefinition } from '../../src/cli/command.ts';
import { engineDeps, engineDocument } from '../../src/cli/engine-list.ts';

export const engineRemove: CommandDefinition = {
  configure(command) {
    command
      .description('Removes an engine, and deletes its files if foley installed them.')
      .argument('<name>', 'name of the engine');
  },
  async run(context, { args: [name = ''] }) {
    const { removeEngine } = await import('../../src/engines/engines.ts');
    const { engine, deleted } = await removeEngine(name, await engineDeps(context));
    context.io.notice(`removed ${[name, ...deleted].join(' and ')}`);
    return { data: { removed: engineDocument(engine), deleted } };
  },
};
