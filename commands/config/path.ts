import type { CommandDefinition } from '../../src/cli/command.ts';

/** The files and folders of foley. */
export interface PathsDocument {
  readonly settingsFile: string;
  readonly accountsFile: string;
  readonly state: string;
  readonly cache: string;
  /** Data of the embedded service. */
  readonly serviceData: string;
}

export const definition: CommandDefinition<object, PathsDocument> = {
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
