/** An object with unknown fields. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Whether `field` is absent or null, or fits. */
export function isOptional(value: unknown, fits: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || fits(value);
}
