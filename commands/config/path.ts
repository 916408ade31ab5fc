import type { CommandDefinition } from '../../src/cli/command.ts';

export const definition: CommandDefinition = {
  configure(command) {
    command.description(
      'Prints the path of your settings file; with --json also the accounts, state and cache.',
    );
  },
  async run(context) {
    const { accountsFile, cache, serviceData, settingsFile, state } = await context.paths();
    return {
      data: { settingsFile, accountsFile, state, cache, serviceData },
      human: () => settingsFile,
    };
  },
};
