import { usageFailure } from '../errors/failure.ts';
import { durationMs } from '../text/duration.ts';

/**
 * A duration of the command line in milliseconds (contract, section 2).
 * @throws Failure (usage) naming the flag
 */
export function parseDuration(flag: string, given: string): number {
  const duration = durationMs(given);
  if (duration !== undefined) return duration;
  throw usageFailure(
    `${flag} is "${given}"; it takes a duration such as 500ms, 30s, 10m or 1h (plain numbers are seconds)`,
  );
}

/**
 * The same for a limit, which nothing could be within if it were none.
 * @throws Failure (usage) naming the flag
 */
export function parseTimeLimit(flag: string, given: string): number {
  const ms = parseDuration(flag, given);
  if (ms > 0) return ms;
  throw usageFailure(`${flag} is "${given}"; it takes a duration above 0, such as 24h`);
}
