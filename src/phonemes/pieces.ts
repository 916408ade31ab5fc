import type { TaggerToken } from './tokenize.ts';

/** A part of a token that is looked up by itself if no longer word is known: `well`, `-` and `known`. */
export interface Piece {
  /** Range in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Index of the token that contains the piece. */
  readonly token: number;
  /** A word, a sign inside of a word, a mark with a sound of its own, or something without sound. */
  readonly kind: 'word' | 'joiner' | 'mark' | 'silent';
  /** The phonemes that were given for the piece, in Kokoro's alphabet. */
  readonly given?: string;
}

/**
 * Splits tokens at hyphens and other signs, between letters and digits, and at the capitals of `JavaScript`. A possessive
 * stays at its word.
 */
export function splitPieces(tokens: readonly TaggerToken[], text: string): readonly Piece[] {
  const quotes = singleQuotes(tokens, text);
  const pieces: Piece[] = [];
  const lastEnd = tokens.at(-1)?.end ?? 0;
  for (const [token, { start, end, text: whole }] of tokens.entries()) {
    const last = pieces.at(-1);
    if (/^'[sS]$/.test(whole) && last?.kind === 'word' && last.end === start) {
      pieces[pieces.length - 1] = { ...last, end, text: last.text + whole };
      continue;
    }
    // The full stop of "nine A M." ends the sentence.
    const isLetter = /^\p{Lu}\.$/u.test(whole) && /^\p{Lu}$/u.test(tokens[token - 1]?.text ?? '');
    const isAbbreviation = /\p{L}/u.test(whole) && !isLetter;
    for (const { 0: found, index } of whole.matchAll(PIECE)) {
      const range = { start: start + index, end: start + index + found.length };
      const isInAbbreviation = found === '.' && isAbbreviation && range.end < lastEnd;
      const kind = quotes.has(range.start) ? 'mark' : kindOf(found, range, text);
      // The full stop of an abbreviation also ends the text.
      pieces.push({ ...range, text: found, token, kind: isInAbbreviation ? 'joiner' : kind });
    }
  }
  return pieces;
}

/** Returns the mark of Kokoro's alphabet for a mark of the text. */
export function markOf({ start, text: mark }: Piece, text: string): string {
  if (/^["']$/.test(mark)) return opensQuote(text, start) ? '“' : '”';
  return /^-+$/.test(mark) ? '—' : (SAME_MARK.get(mark) ?? mark);
}

const PIECE =
  /\p{Lu}+(?=\p{Lu}\p{Ll})|[\p{L}\p{M}]*?(?:'\p{L}+)*?\p{Ll}(?=\p{Lu})|\p{L}[\p{L}\p{M}]*(?:'\p{L}[\p{L}\p{M}]*)*|\p{N}+|-{2,}|[\uD800-\uDBFF][\uDC00-\uDFFF]|./gsu;

const SAME_MARK: ReadonlyMap<string, string> = new Map([
  ['–', '—'],
  ['[', '('],
  ['{', '('],
  [']', ')'],
  ['}', ')'],
  ['„', '“'],
  ['«', '“'],
  ['»', '”'],
]);

function kindOf(
  piece: string,
  { start, end }: { readonly start: number; readonly end: number },
  text: string,
): Piece['kind'] {
  if (/^[\p{L}\p{N}&+%@]/u.test(piece)) return 'word';
  if (/^['_/]$/.test(piece)) return 'joiner';
  if (/^-{2,}$/.test(piece) && !/\S/.test(text.charAt(start - 1)) && isWordAt(text, end))
    return 'joiner';
  const isInWord = isWordAt(text, start - 1) || isWordAt(text, end);
  if (piece === '-' && isInWord) return 'joiner';
  if (/^[.,:]$/.test(piece) && isWordAt(text, end)) {
    if (piece === '.' || isWordAt(text, start - 1)) return 'joiner';
  }
  return /^(?:[;:,.!?—…"()“”–[\]{}„«»]|-+)$/.test(piece) ? 'mark' : 'silent';
}

// Words that begin with an apostrophe, and "rock 'n' roll".
const ELISION = /'n'|(?<!\p{L})'(?:tis|twas|twere|twould|em|cause|til|bout|neath|cept)(?!\p{L})/iu;

function opensQuote(text: string, at: number): boolean {
  return at === 0 || /[\s([{“"—–-]/u.test(text.charAt(at - 1));
}

function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.charAt(at));
}

/**
 * Returns where single quotation marks are: an apostrophe before a word opens a quotation, and the next one after a word
 * or mark closes it. Others are apostrophes, as in `the dogs' tails`.
 */
function singleQuotes(tokens: readonly TaggerToken[], text: string): ReadonlySet<number> {
  const found = new Set<number>();
  let opened: number | undefined;
  for (const { start, end, text: mark } of tokens) {
    if (mark !== "'") continue;
    const around = text.slice(Math.max(0, start - 2), start + 8).replaceAll(/[’‘]/g, "'");
    if (ELISION.test(around)) continue;
    if (opensQuote(text, start)) opened = start;
    else if (opened !== undefined && !isWordAt(text, end)) {
      found.add(opened).add(start);
      opened = undefined;
    }
  }
  return found;
}
