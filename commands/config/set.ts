import path from 'node:path';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { SettingName } from '../../src/config/setting-definitions.ts';
import { settingNamed, SETTINGS } from '../../src/config/setting-definitions.ts';
import { describeOrigin, resolveSetting } from '../../src/config/settings.ts';
import { Failure } from '../../src/errors/failure.ts';
import { settingsHelp } from './format.ts';

/** The setting that was stored. */
export interface SetDocument {
  readonly name: string;
  readonly value: string;
  /** The settings file. */
  readonly file: string;
}

export const definition: CommandDefinition<object, SetDocument> = {
  configure(command) {
    command
      .description('Sets a setting in your own configuration.')
      .argument('<name>', 'name of the setting')
      .argument('<value>', 'new value')
      .addHelpText('after', settingsHelp);
  },
  async run(context, { args: [word = '', typed = ''] }) {
    const name = settingNamed(word);
    const isPath = SETTINGS[name].isPath === true && typed !== '';
    const given = isPath ? path.resolve(context.cwd(), typed) : typed;
    if (COMMANDS.has(name)) {
      const { splitWords } = await import('../../src/speech/play.ts');
      splitWords(given, name);
    }
    const { setSetting } = await import('../../src/config/config-write.ts');
    const { settingsFile } = await context.paths();
    await setSetting(settingsFile, name, given, context.system);
    await warnWhenHidden(context, name, settingsFile);
    return { data: { name, value: given, file: settingsFile } };
  },
};

/** Settings whose value is a command line. */
const COMMANDS: ReadonlySet<SettingName> = new Set(['pager', 'upload.command']);

async function warnWhenHidden(context: Context, name: SettingName, file: string): Promise<void> {
  try {
    const setting = resolveSetting(await context.settings(), name);
    if (setting?.origin.kind !== 'environment' && setting?.origin.kind !== 'project') return;
    const origin = describeOrigin(setting.origin);
    context.io.notice(`foley: ${name} is set in ${file}, but ${origin} takes precedence`);
  } catch (error) {
    // The setting was written: another invalid setting is only a notice.
    if (!(error instanceof Failure)) throw error;
    context.io.notice(`foley: ${error.message}`);
  }
}
