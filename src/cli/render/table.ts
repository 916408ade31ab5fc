import stringWidth from 'string-width';
import { display } from '../../text/display.ts';
import { namedColumns } from '../flags/lists.ts';
import type { TerminalStyle } from './style.ts';

const GAP = '  ';
const NARROWEST_COLUMN = 8;

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** True if the table must show the values in full, because users copy them. */
  readonly whole?: boolean;
  /** True if a narrow terminal may omit the column. The last optional column is omitted first. */
  readonly optional?: boolean;
  /** The width that a narrow terminal leaves to the column as long as it can omit optional columns. Default: 8. */
  readonly narrowest?: number;
  /** True if the table omits the column by default. Users can request it with `--columns`. */
  readonly isExtra?: true;
  /** Returns the value that `--columns` prints if stdout is not a terminal. Default: `value`. */
  readonly exact?: (row: Row) => string;
}

/** A list as `--json` prints it. */
export interface ListDocument<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * Returns a list as a table. If there are no rows, returns a notice for stderr instead, so that stdout stays empty.
 * @param names the columns that `--columns` names; undefined without the flag. If stdout is not a terminal, these
 * columns are printed without titles, separated by tabs.
 */
export function listOrNotice<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { names, notice }: { readonly names: readonly string[] | undefined; readonly notice: string },
): { readonly human: (style: TerminalStyle) => string } | { readonly notice: string } {
  if (rows.length === 0) return { notice };
  if (names === undefined) {
    const usual = columns.filter(({ isExtra }) => isExtra !== true);
    return { human: (style) => table(rows, usual, style) };
  }
  const chosen = namedColumns(names, columns).map((column) => ({ ...column, optional: false }));
  return {
    human: (style) =>
      style.columns === Infinity ? separated(rows, chosen) : table(rows, chosen, style),
  };
}

function separated<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(({ value, exact = value }) => display(exact(row))));
  return cells.map((line) => `${line.join('\t')}\n`).join('');
}

/**
 * Formats rows as a table that fits the terminal: omits optional columns, then shortens the widest remaining columns.
 * Escapes values, since most values come from a server.
 */
export function table<Row>(
  rows: readonly Row[],
  wanted: readonly Column<Row>[],
  style: TerminalStyle,
): string {
  const columns = fittingColumns(rows, wanted, style);
  const cells = rows.map((row) => columns.map(({ value }) => display(value(row))));
  const titles = columns.map(({ title }) => title);
  const widths = fit(
    titles.map((title, index) =>
      Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[index] ?? ''))),
    ),
    style.columns - GAP.length * (columns.length - 1),
    columns,
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => pad(shorten(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  return [style.paint.dim(line(titles)), ...cells.map((row) => line(row))].join('\n');
}

function fittingColumns<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  style: TerminalStyle,
): readonly Column<Row>[] {
  const least = columns.map(({ narrowest = NARROWEST_COLUMN, title, value, whole }) => {
    const natural = Math.max(
      stringWidth(title),
      ...rows.map((row) => stringWidth(display(value(row)))),
    );
    return whole === true ? natural : Math.min(natural, narrowest);
  });
  const width = least.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
  const dispensable = columns.findLastIndex(({ optional }) => optional === true);
  if (width <= style.columns || dispensable === -1) return columns;
  return fittingColumns(rows, columns.toSpliced(dispensable, 1), style);
}

function fit(wanted: readonly number[], room: number, columns: readonly Column<never>[]): number[] {
  const widths = [...wanted];
  const canOmit = columns.some(({ optional }) => optional === true);
  const leastOf = (index: number): number =>
    (canOmit ? columns[index]?.narrowest : undefined) ?? NARROWEST_COLUMN;
  const canShrink = (index: number): boolean =>
    columns[index]?.whole !== true && (widths[index] ?? 0) > leastOf(index);
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
  // Keep whole items of a list: they may be ids. Commas between phrases are prose.
  const items = /^\S+(?:, \S+)+$/.test(text) ? text.split(', ') : [];
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

const NARROWEST_TEXT = 24;

/** A table row that ends with a long text. `paint` colors the first cell. */
export interface WrappedRow {
  readonly cells: readonly string[];
  readonly text: string;
  /** Text for a separate line below the long text. */
  readonly hint?: string | undefined;
  readonly paint?: ((cell: string) => string) | undefined;
}

/** Formats rows with long text in the last column, wrapped within the column. Escapes values. */
export function wrappedRows(
  titles: readonly string[],
  rows: readonly WrappedRow[],
  { columns, paint }: TerminalStyle,
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

// Text wraps between words and between commands in backticks, which users can copy.
const PIECES = /[^\s`]*(?:`[^`]*`[^\s`]*)+|\S+/g;

// At the beginning of a line, CI systems execute such a word as a command (text/display.ts).
const CI_COMMAND = /^(?:::|##)/;

/**
 * Wraps text between words, to lines of at most `columns` characters. Never breaks a word or a command in backticks,
 * even if it is too long for a line.
 */
export function wrappedText(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  const lines: string[] = [];
  for (const [piece] of text.matchAll(PIECES)) {
    const last = lines.at(-1);
    const longer = last === undefined ? piece : `${last} ${piece}`;
    const isTooLong = stringWidth(longer) > columns && !CI_COMMAND.test(piece);
    if (last === undefined || isTooLong) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}

/** Formats named fields, one per line, with wrapped values. Omits fields that have no value. */
export function renderFields(
  rows: readonly (readonly [name: string, value: string])[],
  { columns, paint }: TerminalStyle,
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
