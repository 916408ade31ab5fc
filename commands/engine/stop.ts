import type { CommandDefinition } from '../../src/cli/command.ts';
import { engineDeps } from '../shared/engine-list.ts';
import { BUILT_IN_ENGINE } from '../../src/contract/engine.ts';

export interface StoppedDocument {
  /** Names of the engines whose processes were ended. */
  readonly stopped: readonly string[];
}

export const definition: CommandDefinition<object, StoppedDocument> = {
  configure(command) {
    command
      .description(
        'Ends the process of an engine that stays ready between commands, or the processes of all ' +
          'engines. Running requests to added engines fail. The next request starts a new process.',
      )
      .argument(
        '[name]',
        'name of the engine, hibari for the built-in voices; without it, all engines',
      );
  },
  async run(context, { args: [name] }) {
    const [{ findEngine }, { stopEngines }] = await Promise.all([
      import('../../src/engines/engines.ts'),
      import('../../src/engines/inspector.ts'),
    ]);
    const isAdded = name !== undefined && name !== BUILT_IN_ENGINE;
    if (isAdded) await findEngine(name, await engineDeps(context));
    const { runtime } = await context.paths();
    const stopped = await stopEngines(runtime, name, true);
    const none =
      context.system.platform === 'win32'
        ? 'nothing to stop: on Windows, the processes of engines end with each command'
        : 'no engine process is ready';
    return {
      data: { stopped },
      notice: stopped.length === 0 ? none : `stopped ${stopped.join(' and ')}`,
    };
  },
};
