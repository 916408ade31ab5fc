import type { SettingName } from '../../src/config/setting-definitions.ts';
import { SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import { durationText } from '../../src/text/duration.ts';

/** Formats a value in the form that `config set` accepts: a duration gets its unit. */
export function formatValue(name: SettingName, value: string | number): string | number {
  return SETTINGS[name].unit === 'ms' ? durationText(Number(value)) : value;
}

const HELP_COLUMNS = 80;

/** Returns one line per setting: name, description and, if the line stays short enough, the allowed values. */
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
