import { display } from '../../text/display.ts';

const SHOWN_CHARACTERS = 40;

/** A value of a request as an error message may repeat it: short, and harmless on a terminal. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return showText(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** A name that the request made up, in the same way. */
export function showText(value: string): string {
  return `"${display(value, { max: SHOWN_CHARACTERS })}"`;
}
