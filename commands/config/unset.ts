import type { CommandDefinition } from '../../src/cli/command.ts';
import { settingNamed } from './setting-words.ts';

/** `foley config unset NAME` (contract, section 8). */
export const configUnset: CommandDefinition = {
  configure(command) {
    command
      .description('Takes a setting out of your own configuration.')
      .argument('<name>', 'setting');
  },
  async run(context, { args: [word = ''] }) {
    const name = settingNamed(word);
    const { user } = await context.settings();
    const { settingsFile } = await context.paths();
    const isSet = user?.values[name] !== undefined;
    if (isSet) {
      const { unsetSetting } = await import('../../src/config/config-write.ts');
      await unsetSetting(settingsFile, name, context);
    } else {
      context.io.notice(`${name} is not set in ${settingsFile}`);
    }
    return { data: { name, removed: isSet, file: settingsFile } };
  },
};
