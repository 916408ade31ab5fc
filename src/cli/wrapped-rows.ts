import stringWidth from 'string-width';
import { display } from '../text/display.ts';
import type { Look } from './look.ts';
import { wrappedText } from './wrapped-text.ts';

const GAP = '  ';
const NARROWEST_TEXT = 24;

/** A line of short cells and a text that may be long; `paint` is applied to the first cell. */
export interface WrappedRow {
  readonly cells: readonly string[];
  readonly text: string;
  /** A line of its own below the text. */
  readonly hint?: string | undefined;
  readonly paint?: ((cell: string) => string) | undefined;
}

/**
 * Rows whose last column is text: it goes on in further lines below itself where the terminal ends,
 * so that nothing of it is lost. Everything is made safe to show.
 */
export function wrappedRows(
  titles: readonly string[],
  rows: readonly WrappedRow[],
  { columns, paint }: Look,
): string {
  const count = titles.length - 1;
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...[titles, ...rows.map(({ cells }) => cells)].map((row) => widthOf(row[index]))),
  );
  const indent = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(NARROWEST_TEXT, columns - indent);
  const start = (cells: readonly string[], mark: (cell: string) => string): string =>
    widths
      .map((width, index) => {
        const cell = display(cells[index] ?? '');
        const padding = ' '.repeat(Math.max(0, width - stringWidth(cell))) + GAP;
        return (index === 0 ? mark(cell) : cell) + padding;
      })
      .join('');
  const below = `\n${' '.repeat(indent)}`;
  const linesOf = (text: string): string =>
    wrappedText(display(text), room).replaceAll('\n', below);
  const lines = rows.map(({ cells, text, hint, paint: mark = (cell) => cell }) =>
    [start(cells, mark) + linesOf(text), ...(hint === undefined ? [] : [linesOf(hint)])].join(
      below,
    ),
  );
  const title = start(titles.slice(0, count), (cell) => cell) + (titles[count] ?? '');
  return [paint.dim(title), ...lines].join('\n');
}

function widthOf(cell: string | undefined): number {
  return stringWidth(display(cell ?? ''));
}
