import { counted, display } from '../display.ts';
import type { LexiconEntry } from '../lexicon.ts';
import { entryProblem } from '../lexicon.ts';
import { DocumentError } from './document-error.ts';

/**
 * Reads the entries of a lexicon. Accepts a table with the columns `written` and `spoken`, separated by tabs, commas or
 * semicolons. Also accepts a W3C Pronunciation Lexicon (PLS) with aliases.
 * @throws DocumentError that names the line
 */
export async function readLexicon(text: string): Promise<readonly LexiconEntry[]> {
  return text.trimStart().startsWith('<') ? readPls(text) : readTable(text);
}

async function readTable(text: string): Promise<readonly LexiconEntry[]> {
  const { CsvError, parse } = await import('csv-parse/sync');
  const separator = separatorOf(text);
  const rows: { readonly cells: readonly string[]; readonly line: number }[] = [];
  try {
    parse(text, {
      delimiter: separator,
      comment: '#',
      comment_no_infix: true,
      quote: separator === '\t' ? false : '"',
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record(cells: string[], { lines }) {
        // At once, because the parser makes an error for each row that has another number of cells than the first.
        const isFirst = rows.length === 0;
        if (cells.length !== 2 && !(isFirst && isHeader(cells))) throw columnsError(cells, lines);
        rows.push({ cells, line: lines });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = error['lines'];
    const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED';
    throw new DocumentError(`not valid CSV: ${isOpen ? 'a quote is not closed' : error.message}`, {
      line: typeof line === 'number' ? line : undefined,
      hint: 'Put quotes around a cell that contains separators or quotes, and double each quote in the cell.',
    });
  }
  const [first] = rows;
  const entries = first !== undefined && isHeader(first.cells) ? rows.slice(1) : rows;
  return entries.map(({ cells, line }) => {
    const [written = '', spoken = ''] = cells;
    if (PHONEMES.test(spoken)) {
      throw new DocumentError(
        `the entry ${quoted(written)} has phonemes, which are not supported: ${display(spoken, { max: 60 })}`,
        { line, hint: RESPELL },
      );
    }
    return checked({ written, spoken }, line);
  });
}

// A path such as `/usr/bin/` has another slash.
const PHONEMES = /^\/[^/]+\/$/;
const RESPELL =
  'Write how the word sounds in ordinary letters, such as tuh-MAH-toe: the text of a request cannot carry phonemes.';

function quoted(word: string): string {
  return `"${display(word, { max: 40 })}"`;
}

function columnsError(cells: readonly string[], line: number): DocumentError {
  return new DocumentError(`${counted(cells.length, 'column')} instead of 2`, {
    line,
    hint: COLUMNS,
  });
}

const COLUMNS =
  'Write two columns, separated by a tab or a comma: written, spoken. In CSV, quote a cell that has a comma.';

function separatorOf(text: string): string {
  const first = /^(?![ \t]*(?:#|\r?$)).+/m.exec(text)?.[0] ?? '';
  return ['\t', ',', ';'].find((separator) => first.includes(separator)) ?? ',';
}

const HEADERS: readonly ReadonlySet<string>[] = [
  new Set(['written', 'word', 'grapheme', 'text']),
  new Set(['spoken', 'alias', 'pronunciation', 'say']),
];

function isHeader(cells: readonly string[]): boolean {
  return HEADERS.every((names, column) => names.has(cells[column]?.toLowerCase() ?? ''));
}

function checked(entry: LexiconEntry, line: number): LexiconEntry {
  const problem = entryProblem(entry);
  if (problem !== undefined) throw new DocumentError(problem, { line, hint: COLUMNS });
  return entry;
}

// Elements of PLS whose content foley does not read.
const UNREAD = new Set(['example', 'meta', 'metadata']);

async function readPls(text: string): Promise<readonly LexiconEntry[]> {
  const { readXml } = await import('./xml.ts');
  const entries: LexiconEntry[] = [];
  const known = new Set<string>();
  const open: string[] = [];
  let unread = 0;
  let lexemeLine = 0;
  let written: string[] = [];
  let spoken: string[] = [];
  let phonemes = '';
  let preferred = 0;
  readXml(text, {
    open(name, attributes, line) {
      const tag = localName(name);
      if (unread > 0 || UNREAD.has(tag)) {
        unread += 1;
        return;
      }
      if (PARENTS.get(tag) !== open.at(-1) || !PARENTS.has(tag)) {
        throw new DocumentError(`the element <${name}> is not supported here`, {
          line,
          hint: 'Supported elements: lexicon, lexeme, grapheme, alias.',
        });
      }
      open.push(tag);
      if (tag === 'lexeme') {
        lexemeLine = line;
        [written, spoken, phonemes, preferred] = [[], [], '', 0];
      } else if (tag === 'grapheme') {
        written.push('');
      } else if (tag === 'alias') {
        if (attributes['prefer'] === 'true') preferred = spoken.length;
        spoken.push('');
      }
    },
    text(piece) {
      if (unread === 0 && open.at(-1) === 'phoneme') phonemes += piece;
      const list = open.at(-1) === 'grapheme' ? written : spoken;
      if (unread > 0 || !['grapheme', 'alias'].includes(open.at(-1) ?? '')) return;
      list[list.length - 1] += piece;
    },
    close() {
      if (unread > 0) {
        unread -= 1;
        return;
      }
      if (open.pop() !== 'lexeme') return;
      const alias = spoken[preferred];
      const [word] = written;
      if (alias === undefined && word !== undefined && phonemes !== '') {
        throw new DocumentError(
          `the <lexeme> of ${quoted(word)} has no <alias>, only phonemes, which are not supported: ${display(phonemes, { max: 60 })}`,
          { line: lexemeLine, hint: `Add an <alias>. ${RESPELL}` },
        );
      }
      if (written.length === 0 || alias === undefined) {
        const missing = alias === undefined ? '<alias>' : '<grapheme>';
        throw new DocumentError(`the <lexeme> has no ${missing}`, {
          line: lexemeLine,
          hint: 'Write <lexeme><grapheme>written</grapheme><alias>spoken</alias></lexeme>.',
        });
      }
      for (const one of written) {
        const entry = checked({ written: one.trim(), spoken: alias.trim() }, lexemeLine);
        // The first of equal lexemes is preferred (PLS 1.0, section 4.9.3).
        if (!known.has(entry.written)) entries.push(entry);
        known.add(entry.written);
      }
    },
  });
  return entries;
}

// Each element of PLS with the element that must contain it.
const PARENTS: ReadonlyMap<string, string | undefined> = new Map([
  ['lexicon', undefined],
  ['lexeme', 'lexicon'],
  ['grapheme', 'lexeme'],
  ['alias', 'lexeme'],
  ['phoneme', 'lexeme'],
]);

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
