const UNITS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * Parses a duration such as `500ms`, `30s`, `10m`, `1h` or plain seconds. Returns milliseconds, or undefined if the
 * text is not a duration.
 */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  const unit = UNITS.get(match?.[2] ?? 's');
  const value = Number(match?.[1]) * (unit ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** Formats a number of milliseconds as the shortest text that {@link durationMs} parses. */
export function durationText(ms: number): string {
  const units = [...UNITS].reverse();
  const [unit, size] = units.find(([, length]) => ms >= length && ms % length === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
