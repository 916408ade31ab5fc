import { toJson } from '../../src/text/display.ts';

/** A value of a service whose shape nobody describes, for people; it is not yet safe to print. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) ? value.map(shown).join(', ') : toJson(value);
}
