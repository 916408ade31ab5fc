import { display } from '../text/display.ts';
import type { Look } from './look.ts';
import { wrappedText } from './wrapped-text.ts';

const GAP = '  ';

/**
 * What is known of one thing, a line for each fact, which goes on below itself where the terminal ends; facts
 * without a value are left out.
 */
export function facts(
  rows: readonly (readonly [name: string, value: string])[],
  { columns, paint }: Look,
): string {
  const known = rows.filter(([, value]) => value !== '');
  const width = Math.max(...known.map(([name]) => name.length));
  const below = `\n${' '.repeat(width)}${GAP}`;
  const linesOf = (value: string): string =>
    wrappedText(display(value), columns - width - GAP.length).replaceAll('\n', below);
  return known
    .map(([name, value]) => `${paint.dim(name.padEnd(width))}${GAP}${linesOf(value)}`)
    .join('\n');
}
