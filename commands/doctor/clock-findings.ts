import type { Finding } from './finding.ts';
import { ok, problem, warning } from './finding.ts';

const NOTICEABLE_MS = 60_000;
/** Beyond it, signed addresses and certificates are refused. */
const HARMFUL_MS = 300_000;

/**
 * How far this computer's clock is from a service's.
 * @param date the `Date` of its answer, which is exact to a second
 * @param now milliseconds since the epoch, when the answer was made
 */
export function clockFindings(date: string | undefined, now: number, host: string): Finding[] {
  const theirs = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return [];
  const distance = Math.abs(now - theirs);
  if (distance <= NOTICEABLE_MS) return [ok(`the clocks of ${host} and this computer agree`)];
  const minutes = Math.round(distance / NOTICEABLE_MS);
  const direction = now > theirs ? 'ahead of' : 'behind';
  const text = `this computer’s clock is ${minutes} min ${direction} that of ${host}`;
  const hint = 'Set the clock, best by the network (NTP).';
  return [distance > HARMFUL_MS ? problem(text, hint) : warning(text, hint)];
}
