import stringWidth from 'string-width';
import { isUnspaced, splitUnspaced } from './unspaced.ts';

/**
 * A piece of a text that is never cut: a word with the signs that cling to it. Together the
 * tokens are the text without its white space.
 */
export interface Token {
  readonly text: string;
  /** Where it begins and ends in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** What stands before it on a line: nothing, a space, or a full-width space. */
  readonly gap: '' | ' ' | '\u3000';
  /** The white space before it breaks the line: 1, or the paragraph: 2 and more. */
  readonly lineBreaks: number;
  /** Columns that it takes: full-width characters two, combining marks none. */
  readonly width: number;
}

/**
 * The tokens of a text. White space, control characters and invisible signs that stand alone are
 * between them; spaces that forbid a break are within them. Scripts without spaces between
 * words are cut by the dictionary of `Intl.Segmenter`.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let from = 0;
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) {
    // Quotes, dashes and dots are as wide as the characters around them.
    const ambiguousIsNarrow = !isUnspaced(chunk);
    let at = index;
    for (const whole of splitChunk(chunk)) {
      const piece = whole.trim();
      const start = at + whole.indexOf(piece);
      at += whole.length;
      if (INVISIBLE.test(piece)) continue;
      const gap = tokens.length === 0 ? '' : text.slice(from, start);
      from = start + piece.length;
      tokens.push({
        text: piece,
        start,
        end: from,
        gap: joiner(gap),
        lineBreaks: gap.match(LINE_BREAK)?.length ?? 0,
        width: stringWidth(piece, { ambiguousIsNarrow }),
      });
    }
  }
  return tokens;
}

/** All but white space that allows a break: the no-break, figure and narrow no-break spaces stay. */
const CHUNK = /[^\p{Cc}\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+/gu;
const INVISIBLE = /^[\s\p{Cf}]*$/u;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;
/** After a dash between two words without spaces, and at a place that is marked for a break. */
const WITHIN_CHUNK = /(?<=[^\s—][—―])(?=[\p{L}\p{N}\p{Ps}\p{Pi}"'])|(?<=\u200b)(?=.)/u;

function splitChunk(chunk: string): readonly string[] {
  return chunk
    .split(WITHIN_CHUNK)
    .flatMap((part) => (isUnspaced(part) ? splitUnspaced(part) : [part]));
}

function joiner(gap: string): Token['gap'] {
  if (gap.includes('\u3000')) return '\u3000';
  return /[\s\p{Cc}]/u.test(gap) ? ' ' : '';
}
