import { display } from '../text/display.ts';
import type { Look } from './look.ts';

/** What is known of one thing, a line for each fact; facts without a value are left out. */
export function facts(
  rows: readonly (readonly [name: string, value: string])[],
  { paint }: Look,
): string {
  const known = rows.filter(([, value]) => value !== '');
  const width = Math.max(...known.map(([name]) => name.length));
  return known
    .map(([name, value]) => `${paint.dim(name.padEnd(width))}  ${display(value)}`)
    .join('\n');
}
