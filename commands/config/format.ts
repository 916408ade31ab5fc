import type { SettingName } from '../../src/config/setting-definitions.ts';
import { SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import { durationText } from '../../src/text/duration.ts';
import { sizeText } from '../../src/text/size.ts';

/**
 * Formats the value of a setting so that `config set` accepts it. A duration in milliseconds and a size in bytes become
 * text with a unit.
 */
export function formatValue(
  name: SettingName,
  value: boolean | number | string,
): boolean | number | string {
  const { unit } = SETTINGS[name];
  if (unit === undefined) return value;
  return unit === 'ms' ? durationText(Number(value)) : sizeText(Number(value));
}

const HELP_COLUMNS = 80;

/**
 * Returns the help text about settings, one line each: the name, a description and, if there is room, the allowed
 * values.
 */
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
