import type { SettingName } from '../../src/config/setting-definitions.ts';
import { isSettingName, SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import { usageFailure, Failure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';
import { durationText } from '../../src/text/duration.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { describeOrigin, resolveSetting, listSettings } from '../../src/config/settings.ts';
import { Option } from 'commander';
import type { Column } from '../../src/cli/render/table.ts';

/** A value as `config set` takes it: durations with their unit. */
export function formatValue(name: SettingName, value: string | number): string | number {
  return SETTINGS[name].unit === 'ms' ? durationText(Number(value)) : value;
}

/**
 * The setting that a word of the command line names.
 * @throws Failure (usage) with the nearest name
 */
export function settingNamed(word: string): SettingName {
  if (isSettingName(word)) return word;
  const [nearest] = closest(word, SETTING_NAMES, 1);
  throw usageFailure(
    `there is no setting "${word}"`,
    nearest === undefined
      ? `The settings are ${SETTING_NAMES.join(', ')}.`
      : `Did you mean ${nearest}?`,
  );
}

const HELP_COLUMNS = 80;

/** The settings with what they are, and what they take where there is room for it. */
export function settingsHelp(): string {
  const width = Math.max(...SETTING_NAMES.map((name) => name.length));
  const lines = SETTING_NAMES.map((name) => {
    const { allowed, what } = SETTINGS[name];
    const line = `  ${name.padEnd(width)}  ${what}`;
    const longer = `${line}: ${allowed}`;
    return longer.length > HELP_COLUMNS ? line : longer;
  });
  return `\nSettings:\n${lines.join('\n')}`;
}

/** `foley config get NAME`: the value that counts, wherever it comes from. */
export const configGet: CommandDefinition = {
  configure(command) {
    command
      .description(
        'Prints the effective value of a setting: from the environment, the project, your own ' +
          'configuration or the default. Prints nothing when there is no value.',
      )
      .argument('<name>', 'setting')
      .addHelpText('after', settingsHelp);
  },
  async run(context, { args: [word = ''] }) {
    const name = settingNamed(word);
    const setting = resolveSetting(await context.settings(), name);
    if (setting === undefined) {
      return { data: { name, value: null, origin: null } };
    }
    const value = formatValue(name, setting.value);
    return {
      data: { name, value, origin: describeOrigin(setting.origin) },
      human: () => `${value}`,
    };
  },
};

interface ConfigListFlags {
  readonly showOrigin?: true;
}

interface Row {
  readonly name: string;
  readonly value: string | number;
  readonly origin: string;
}

/** `foley config list`. */
export const configList: CommandDefinition<ConfigListFlags> = {
  configure(command) {
    command
      .description('Lists the settings that have a value, with the effective value.')
      .addOption(new Option('--show-origin', 'also show where each value comes from'));
  },
  async run(context, { options }) {
    const items = listSettings(await context.settings()).map(({ name, origin, value }): Row => ({
      name,
      value: formatValue(name, value),
      origin: describeOrigin(origin),
    }));
    const { table } = await import('../../src/cli/render/table.ts');
    const columns = options.showOrigin === true ? [...COLUMNS, ORIGIN] : COLUMNS;
    return {
      data: { items, total: items.length },
      human: (style) => table(items, columns, style),
    };
  },
};

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'VALUE', value: ({ value }) => `${value}`, whole: true },
];

const ORIGIN: Column<Row> = { title: 'ORIGIN', value: ({ origin }) => origin, whole: true };

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

/** `foley config set NAME VALUE`. */
export const configSet: CommandDefinition = {
  configure(command) {
    command
      .description('Sets a setting in your own configuration.')
      .argument('<name>', 'setting')
      .argument('<value>', 'its value')
      .addHelpText('after', settingsHelp);
  },
  async run(context, { args: [word = '', given = ''] }) {
    const name = settingNamed(word);
    const { allowed, read } = SETTINGS[name];
    if (read(given) === undefined) {
      throw usageFailure(`${name} is "${given}"; it takes ${allowed}`);
    }
    const { setSetting } = await import('../../src/config/config-write.ts');
    const { settingsFile } = await context.paths();
    await setSetting(settingsFile, name, given, context);
    await warnWhenHidden(context, name, settingsFile);
    return { data: { name, value: given, file: settingsFile } };
  },
};

/** What the environment or a project says is stronger than what was just written. */
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

/** `foley config unset NAME`. */
export const configUnset: CommandDefinition = {
  configure(command) {
    command
      .description('Removes a setting from your own configuration.')
      .argument('<name>', 'setting');
  },
  async run(context, { args: [word = ''] }) {
    const name = settingNamed(word);
    const { settingsFile } = await context.paths();
    const isSet = await isSetByUser(context, name);
    if (isSet) {
      const { unsetSetting } = await import('../../src/config/config-write.ts');
      await unsetSetting(settingsFile, name, context);
    } else {
      context.io.notice(`foley: ${name} is not set in ${settingsFile}`);
    }
    return { data: { name, removed: isSet, file: settingsFile } };
  },
};

/** What cannot be read may have it: a wrong value is mended by taking it out. */
async function isSetByUser(context: Context, name: SettingName): Promise<boolean> {
  try {
    const { user } = await context.settings();
    return user?.values[name] !== undefined;
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}
