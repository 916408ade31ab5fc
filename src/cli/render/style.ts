import { counted } from '../../text/display.ts';

/** Width and colors of an output stream. */
export interface TerminalStyle {
  /** Width in columns. Infinity if the stream is not a terminal, so that programs get full values. */
  readonly columns: number;
  readonly paint: Paint;
}

export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const PLAIN: Paint = {
  bold: asItIs,
  dim: asItIs,
  red: asItIs,
  yellow: asItIs,
  green: asItIs,
};

/** Loads the library for colors. */
export async function loadPaint(): Promise<Paint> {
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MOST_DAYS = 30;

/**
 * Formats a time from the service (ISO 8601). A terminal shows the age, such as `5 min ago`, and after 30 days the
 * date. For other outputs, returns the time without fractions of a second.
 * @param now current time in milliseconds since the Unix epoch
 * @param columns width of the output; infinite if it is no terminal
 */
export function relativeTime(iso: string, now: number, columns: number): string {
  const exact = iso.replace(/\.\d+Z$/, 'Z');
  const age = now - Date.parse(iso);
  // Clocks of two computers may differ by less than a minute.
  if (columns === Infinity || Number.isNaN(age) || age < -MINUTE_MS) return exact;
  if (age < MINUTE_MS) return 'just now';
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`;
  const days = Math.floor(age / DAY_MS);
  if (days > MOST_DAYS) return exact.slice(0, 10);
  return `${counted(days, 'day')} ago`;
}

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

/**
 * Returns whether to color a stream. For `auto`, NO_COLOR turns colors off. If it is unset, FORCE_COLOR decides. If
 * both are unset, only terminals get colors.
 */
export function wantsColor({
  choice,
  env,
  isTerminal,
}: {
  readonly choice: ColorChoice;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}): boolean {
  if (choice !== 'auto') return choice === 'always';
  const { FORCE_COLOR: force = '', NO_COLOR: no = '' } = env;
  if (no !== '') return false;
  return force === '' ? isTerminal && env['TERM'] !== 'dumb' : force !== '0';
}
