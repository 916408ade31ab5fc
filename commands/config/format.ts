import type { SettingName } from '../../src/config/setting-definitions.ts';
import { isSettingName, SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';
import { durationText } from '../../src/text/duration.ts';

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
