import stringWidth from 'string-width';
import { display } from '../text/display.ts';
import type { Look } from './look.ts';

const GAP = '  ';
const NARROWEST_COLUMN = 8;

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Never shortened, since people copy it. */
  readonly whole?: boolean;
  /** Left out where there is no room for it; the last one goes first. */
  readonly optional?: boolean;
}

/**
 * Rows as aligned text that fits the terminal: columns that are optional are left out where they have no room, and
 * the widest of the others give way first. Values are made
 * safe to show, since most come from a server.
 */
export function table<Row>(
  rows: readonly Row[],
  wanted: readonly Column<Row>[],
  look: Look,
): string {
  const columns = fittingColumns(rows, wanted, look);
  const cells = rows.map((row) => columns.map(({ value }) => display(value(row))));
  const titles = columns.map(({ title }) => title);
  const widths = fit(
    titles.map((title, index) =>
      Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[index] ?? ''))),
    ),
    look.columns - GAP.length * (columns.length - 1),
    columns,
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => pad(shorten(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  return [look.paint.dim(line(titles)), ...cells.map((row) => line(row))].join('\n');
}

/** The columns for which there is room even when each of them gives way as far as it can. */
function fittingColumns<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  look: Look,
): readonly Column<Row>[] {
  const narrowest = columns.map(({ title, value, whole }) => {
    const natural = Math.max(
      stringWidth(title),
      ...rows.map((row) => stringWidth(display(value(row)))),
    );
    return whole === true ? natural : Math.min(natural, NARROWEST_COLUMN);
  });
  const width = narrowest.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
  const dispensable = columns.findLastIndex(({ optional }) => optional === true);
  if (width <= look.columns || dispensable === -1) return columns;
  return fittingColumns(rows, columns.toSpliced(dispensable, 1), look);
}

function fit(
  wanted: readonly number[],
  room: number,
  columns: readonly { readonly whole?: boolean }[],
): number[] {
  const widths = [...wanted];
  const canShrink = (index: number): boolean =>
    columns[index]?.whole !== true && (widths[index] ?? 0) > NARROWEST_COLUMN;
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const shrinkable = widths.filter((_, index) => canShrink(index));
    if (shrinkable.length === 0) break;
    const widest = widths.findIndex(
      (width, index) => canShrink(index) && width === Math.max(...shrinkable),
    );
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  // Of a list whole items stay, since they may be ids.
  const items = text.split(', ');
  while (items.length > 1) {
    items.pop();
    const shorter = `${items.join(', ')}, …`;
    if (stringWidth(shorter) <= width) return shorter;
  }
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(
    text,
  )) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}
