import { usageFailure } from '../errors/failure.ts';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/**
 * A duration of the command line in milliseconds: `500ms`, `30s`, `10m`, `1h`, or plain seconds
 * (contract, section 2).
 * @throws Failure (usage) naming the flag
 */
export function parseDuration(flag: string, given: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(given.trim());
  const amount = Number(match?.[1]);
  const unit = (match?.[2] ?? 's') as keyof typeof UNITS;
  const durationMs = amount * UNITS[unit];
  if (match === null || !Number.isFinite(durationMs)) {
    throw usageFailure(
      `${flag} is "${given}"; it takes a duration such as 500ms, 30s, 10m or 1h (plain numbers are seconds)`,
    );
  }
  return durationMs;
}
