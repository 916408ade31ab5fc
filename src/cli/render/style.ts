import { counted } from '../../text/display.ts';

/** Width and colors of one stream. */
export interface TerminalStyle {
  /** Infinite without a terminal, so that nothing is cut for programs. */
  readonly columns: number;
  readonly paint: Paint;
}

/** Text styles. */
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

/** Colors, loaded only where they are shown. */
export async function loadPaint(): Promise<Paint> {
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MOST_DAYS = 30;

/**
 * A moment of a service (ISO 8601) as a person reads it: how long ago it was, and its date when that is more than
 * a month. What is not looked at but read by the next program keeps the moment itself, without fractions.
 *
 * @param now milliseconds since the Unix epoch
 */
export function relativeTime(
  iso: string,
  now: number,
  { columns }: Pick<TerminalStyle, 'columns'>,
): string {
  const exact = iso.replace(/\.\d+Z$/, 'Z');
  const age = now - Date.parse(iso);
  // Two clocks may differ by a little, but not by a minute.
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

interface ColorInputs {
  readonly choice: ColorChoice;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}

/**
 * Whether a stream gets colours: the flag, then `NO_COLOR`, then `FORCE_COLOR`, then whether it is
 * a terminal that can show them. Decided for stdout and stderr separately.
 */
export function wantsColor({ choice, env, isTerminal }: ColorInputs): boolean {
  if (choice !== 'auto') return choice === 'always';
  if (isSet(env['NO_COLOR'])) return false;
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
