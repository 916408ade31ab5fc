import { counted } from '../text/counted.ts';
import type { Look } from './look.ts';

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
export function moment(iso: string, now: number, { columns }: Pick<Look, 'columns'>): string {
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
