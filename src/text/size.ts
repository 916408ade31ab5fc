const UNITS = new Map([
  ['B', 1],
  ['kB', 1_000],
  ['MB', 1_000_000],
  ['GB', 1_000_000_000],
  ['TB', 1_000_000_000_000],
]);

/** Parses a size such as `500MB` or `2 GB`; plain numbers are bytes. Returns undefined if the text is not a size. */
export function sizeBytes(text: string): number | undefined {
  const [, number, given = 'B'] = /^(\d+(?:\.\d+)?) ?([a-z]+)?$/i.exec(text.trim()) ?? [];
  const unit = [...UNITS.keys()].find((one) => one.toLowerCase() === given.toLowerCase());
  const bytes = Math.floor(Number(number) * (UNITS.get(unit ?? '') ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Formats a number of bytes as the shortest text that {@link sizeBytes} parses to the same number. */
export function sizeText(bytes: number): string {
  const units = [...UNITS].reverse();
  const [unit, size] = units.find(([, one]) => bytes >= one && bytes % one === 0) ?? ['B', 1];
  return `${bytes / size}${unit}`;
}
