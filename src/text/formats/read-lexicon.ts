import { counted, display } from '../display.ts';
import type { LexiconEntry } from '../word-matcher.ts';
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
    if (!PHONEMES.test(spoken)) return checked({ written, spoken }, line);
    return checked({ written, spoken: spoken.slice(1, -1).trim(), isPhonemes: true }, line);
  });
}

// A path such as `/usr/bin/` has another slash.
const PHONEMES = /^\/[^/]+\/$/;

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
  let spoken: Spelling[] = [];
  let alphabet = 'ipa';
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
          hint: 'Supported elements: lexicon, lexeme, grapheme, alias, phoneme.',
        });
      }
      open.push(tag);
      if (tag === 'lexeme') {
        lexemeLine = line;
        [written, spoken] = [[], []];
      } else if (tag === 'grapheme') {
        written.push('');
      } else if (tag === 'lexicon') {
        alphabet = attributes['alphabet'] ?? alphabet;
      } else {
        const isPhonemes = tag === 'phoneme';
        if (isPhonemes) requireIpa(attributes['alphabet'] ?? alphabet, line);
        spoken.push({ text: '', isPhonemes, isPreferred: attributes['prefer'] === 'true' });
      }
    },
    text(piece) {
      if (unread > 0) return;
      const tag = open.at(-1);
      const last = spoken.at(-1);
      if (tag === 'grapheme') written[written.length - 1] += piece;
      else if ((tag === 'alias' || tag === 'phoneme') && last !== undefined) last.text += piece;
    },
    close() {
      if (unread > 0) {
        unread -= 1;
        return;
      }
      if (open.pop() !== 'lexeme') return;
      const chosen = preferredOf(spoken);
      if (written.length === 0 || chosen === undefined) {
        const missing = written.length === 0 ? '<grapheme>' : '<alias> or <phoneme>';
        throw new DocumentError(`the <lexeme> has no ${missing}`, {
          line: lexemeLine,
          hint: 'Write <lexeme><grapheme>written</grapheme><alias>spoken</alias></lexeme>.',
        });
      }
      const { isPhonemes, text: pronunciation } = chosen;
      const how = { spoken: pronunciation.trim(), ...(isPhonemes ? { isPhonemes } : {}) };
      for (const one of written) {
        const entry = checked({ written: one.trim(), ...how }, lexemeLine);
        // The first of equal lexemes is preferred (PLS 1.0, section 4.9.3).
        if (!known.has(entry.written)) entries.push(entry);
        known.add(entry.written);
      }
    },
  });
  return entries;
}

interface Spelling {
  text: string;
  readonly isPhonemes: boolean;
  readonly isPreferred: boolean;
}

// An alias works with every voice.
function preferredOf(spoken: readonly Spelling[]): Spelling | undefined {
  const aliases = spoken.filter(({ isPhonemes }) => !isPhonemes);
  const candidates = aliases.length === 0 ? spoken : aliases;
  return candidates.find(({ isPreferred }) => isPreferred) ?? candidates[0];
}

function requireIpa(alphabet: string, line: number): void {
  if (alphabet === 'ipa') return;
  throw new DocumentError(
    `the <phoneme> has the alphabet "${display(alphabet, { max: 40 })}"; supported: ipa`,
    { line, hint: 'Write the phonemes in IPA, or add an <alias>.' },
  );
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
