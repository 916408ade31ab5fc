import type { CommandDefinition } from '../../src/cli/command.ts';

/** `foley config path`: where the settings are; with --json, every place. */
export const configPath: CommandDefinition = {
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
