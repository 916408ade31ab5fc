import type { CommandDefinition } from '../../src/cli/command.ts';
import { describeOrigin, resolveSetting } from '../../src/config/settings.ts';
import { settingNamed } from '../../src/config/setting-definitions.ts';
import { formatValue, settingsHelp } from './format.ts';

/** A setting; `value` and `origin` are null if it has no value. */
export interface SettingDocument {
  readonly name: string;
  readonly value: boolean | number | string | null;
  /** Where the value comes from, such as an environment variable or a file. */
  readonly origin: string | null;
}

export const definition: CommandDefinition<object, SettingDocument> = {
  configure(command) {
    command
      .description(
        'Prints the effective value of a setting: from the environment, the project, your own ' +
          'configuration or the default. Prints nothing when there is no value.',
      )
      .argument('<name>', 'name of the setting')
      .addHelpText('after', settingsHelp);
  },
  async run(context, { args: [word = ''] }) {
    const name = settingNamed(word);
    const setting = resolveSetting(await context.settings(), name);
    if (setting === undefined) return { data: { name, value: null, origin: null } };
    const value = formatValue(name, setting.value);
    return {
      data: { name, value, origin: describeOrigin(setting.origin) },
      human: () => `${value}`,
    };
  },
};
