import path from 'node:path';
import { Readable, pipeline } from 'node:stream';
import type { ControlName } from '../../contract/generated/speech-controls.ts';
import { SPEECH_CONTROLS } from '../../contract/generated/speech-controls.ts';
import { usageFailure } from '../../errors/failure.ts';
import { createUtf8Decoder } from '../../text/decode.ts';
import { display } from '../../text/display.ts';
import type { InputFile } from './inputs.ts';
import { MAX_LINE_CHARACTERS, unreadable } from './inputs.ts';
import { ITEM_KEYS } from './json-line.ts';

interface TableRow {
  // Typed like the fields of a JSON item.
  readonly fields: ReadonlyMap<string, unknown>;
  readonly line: number;
}

interface Table {
  readonly ignored: readonly string[];
  readonly rows: () => AsyncGenerator<TableRow, void, undefined>;
}

const SEPARATORS = [',', ';', '\t'] as const;

/**
 * Opens a CSV file (RFC 4180) and checks the names of its columns. The separator may also be a semicolon or a tab, or
 * any character that the file names in its first line, as in `sep=;`. Leaves out rows whose cells are all empty.
 * @param textColumn name of the column that contains the texts
 * @param keys names of the columns to read; other columns are ignored
 * @throws Failure of kind `usage` if the file is empty or unreadable, or if a column is missing, repeated or misspelled
 */
export async function openTable(
  file: InputFile,
  textColumn: string,
  keys: readonly string[] = ITEM_KEYS,
): Promise<Table> {
  let header: readonly string[] = [];
  let layout: Layout = { separator: SEPARATORS[0], firstLine: 1 };
  for (const candidate of await layoutsOf(file)) {
    const found = await headerOf(file, candidate);
    if (found.length <= header.length) continue;
    header = found;
    layout = candidate;
  }
  const fields = fieldsOf(header, { textColumn, keys }, display(file.name));
  return {
    ignored: header.filter((_, at) => fields[at] === undefined),
    async *rows() {
      let isHeader = true;
      for await (const { cells, line } of recordsOf(file, layout)) {
        if (!isHeader) yield { fields: rowOf(cells, fields), line };
        isHeader = false;
      }
    },
  };
}

interface Layout {
  readonly separator: string;
  /** Number of the line that names the columns. */
  readonly firstLine: number;
}

// Spreadsheets write `sep=;` in the first line, and read it too.
async function layoutsOf(file: InputFile): Promise<readonly Layout[]> {
  let head = '';
  for await (const text of textOf(file)) {
    head += text;
    if (head.length >= SEPARATOR_LINE_UNITS) break;
  }
  const separator = /^"?sep=([^\n\r"])"?\r?\n/i.exec(head)?.[1];
  if (separator !== undefined) return [{ separator, firstLine: 2 }];
  const isTabbed = path.extname(file.name).toLowerCase() === '.tsv';
  return (isTabbed ? ['\t'] : SEPARATORS).map((one) => ({ separator: one, firstLine: 1 }));
}

const SEPARATOR_LINE_UNITS = '"sep=;"\r\n'.length;

async function headerOf(file: InputFile, layout: Layout): Promise<readonly string[]> {
  for await (const { cells } of recordsOf(file, layout, true)) {
    return cells.map((cell) => cell.trim());
  }
  throw usageFailure(`${display(file.name)} is empty`, 'The first line must name the columns.');
}

function fieldsOf(
  header: readonly string[],
  { keys, textColumn }: { readonly textColumn: string; readonly keys: readonly string[] },
  where: string,
): readonly (string | undefined)[] {
  const columns = `Its columns: ${header.map((name) => display(name)).join(', ')}.`;
  const mayNameFiles = keys.includes('file');
  const hasFiles = mayNameFiles && textColumn === 'text' && header.includes('file');
  if (!header.includes(textColumn) && !hasFiles) {
    const hint = mayNameFiles
      ? `${columns} Name the one with the texts: --text-column NAME.`
      : columns;
    throw usageFailure(`${where} has no column "${display(textColumn)}"`, hint);
  }
  const twice = header.find((name, at) => name !== '' && header.indexOf(name) !== at);
  if (twice !== undefined) {
    throw usageFailure(`${where} has the column "${display(twice)}" twice`, 'Rename one of them.');
  }
  return header.map((name) => {
    if (name === textColumn) return 'text';
    if (name === 'text') return undefined;
    if (keys.includes(name)) return name;
    const meant = keys.find((key) => folded(key) === folded(name));
    if (meant === undefined) return undefined;
    throw usageFailure(
      `${where} has the unknown column "${display(name)}"`,
      `Did you mean ${meant}? Columns have the same names as the keys of --jsonl.`,
    );
  });
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

function rowOf(
  cells: readonly string[],
  fields: readonly (string | undefined)[],
): ReadonlyMap<string, unknown> {
  const row = new Map<string, unknown>();
  for (const [at, cell] of cells.entries()) {
    const field = fields[at];
    if (field !== undefined && cell !== '') row.set(field, typedCell(field, cell));
  }
  return row;
}

/**
 * Converts the text of a table cell to the type of its field. Returns invalid text unchanged; `itemOf` then rejects it.
 */
export function typedCell(field: string, cell: string): unknown {
  const type = isControl(field) ? SPEECH_CONTROLS[field].type : 'string';
  if (type === 'number') return /^[-+]?\d*\.?\d+$/.test(cell.trim()) ? Number(cell) : cell;
  const word = cell.trim().toLowerCase();
  const isBoolean = type === 'boolean' && ['true', 'false'].includes(word);
  return isBoolean ? word === 'true' : cell;
}

function isControl(field: string): field is ControlName {
  return Object.hasOwn(SPEECH_CONTROLS, field);
}

interface TableRecord {
  readonly cells: readonly string[];
  readonly line: number;
}

// With `isLoose`, yields only the header, even if the separator is wrong.
async function* recordsOf(
  file: InputFile,
  { firstLine, separator }: Layout,
  isLoose = false,
): AsyncGenerator<TableRecord, void, undefined> {
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    delimiter: separator,
    from_line: firstLine,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    ...(isLoose ? { relax_quotes: true, to: 1 } : {}),
    max_record_size: MAX_LINE_CHARACTERS,
  });
  pipeline(Readable.from(textOf(file)), parser, () => undefined);
  try {
    for await (const { info, record: cells } of parser) {
      // Spreadsheets write rows of empty cells after the last row, of any number.
      if (cells.every((cell: string) => cell.trim() === '')) continue;
      if (info.error !== undefined && !isLoose) throw info.error;
      yield { cells, line: info.lines };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw unreadable(file.name, error);
    const line = error['lines'];
    const where = `${display(file.name)}, line ${typeof line === 'number' ? line : 1}`;
    throw usageFailure(
      `${where} is not valid CSV: ${display(error.message, { max: 200 })}`,
      'Put quotes around a cell that contains separators, quotes or line ends, and double each quote in the cell.',
    );
  }
}

async function* textOf(file: InputFile): AsyncGenerator<string, void, undefined> {
  const decoder = createUtf8Decoder();
  for await (const chunk of file.open()) yield decoder.write(chunk);
  yield decoder.end();
}
