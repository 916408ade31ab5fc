import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { SettingName } from '../../src/config/setting-definitions.ts';
import { Failure } from '../../src/errors/failure.ts';
import { settingNamed } from '../../src/config/setting-definitions.ts';

export interface UnsetDocument {
  readonly name: string;
  /** Whether the setting had a value in this file. */
  readonly removed: boolean;
  /** The settings file. */
  readonly file: string;
}

export const definition: CommandDefinition<object, UnsetDocument> = {
  configure(command) {
    command
      .description('Removes a setting from your own configuration.')
      .argument('<name>', 'name of the setting');
  },
  async run(context, { args: [word = ''] }) {
    const name = settingNamed(word);
    const { settingsFile } = await context.paths();
    const isSet = await isSetByUser(context, name);
    if (isSet) {
      const { unsetSetting } = await import('../../src/config/config-write.ts');
      await unsetSetting(settingsFile, name, context.system);
    } else {
      context.io.notice(`foley: ${name} is not set in ${settingsFile}`);
    }
    return { data: { name, removed: isSet, file: settingsFile } };
  },
};

// True for an invalid file, too: unsetting may repair the file.
async function isSetByUser(context: Context, name: SettingName): Promise<boolean> {
  try {
    const { user } = await context.settings();
    return user?.values[name] !== undefined;
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}
