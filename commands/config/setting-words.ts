import type { SettingName } from '../../src/config/setting-definitions.ts';
import { isSettingName, SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';
import { durationText } from '../../src/text/duration.ts';

/** A value as `config set` takes it: durations with their unit. */
export function shownValue(name: SettingName, value: string | number): string | number {
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

/** The settings with what they are, for the help. */
export function settingsHelp(): string {
  const width = Math.max(...SETTING_NAMES.map((name) => name.length));
  const lines = SETTING_NAMES.map((name) => `  ${name.padEnd(width)}  ${SETTINGS[name].what}`);
  return `\nSettings:\n${lines.join('\n')}`;
}
