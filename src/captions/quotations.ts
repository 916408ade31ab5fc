import type { CaptionToken } from './tokens.ts';

interface Quotation {
  readonly first: number;
  readonly last: number;
}

interface Quotations {
  // Sorted by their ends.
  readonly all: readonly Quotation[];
  // Tokens that consist only of quotation marks or brackets, by token index.
  readonly marks: ReadonlyMap<number, 'opening' | 'closing'>;
}

/** Closing marks for each opening mark. The marks `"` and `'` can both open and close. */
const CLOSING: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['„', '“”'],
  ['‘', '’'],
  ['‚', '‘’'],
  ['«', '»'],
  ['»', '«'],
  ['‹', '›'],
  ['›', '‹'],
  ...Array.from(
    '()[]{}「」『』（）［］｛｝【】〈〉《》〔〕'.matchAll(/(.)(.)/gu),
    ([, open = '', close = '']) => {
      return [open, close] as const;
    },
  ),
]);

const ALL_CLOSING = new Set([...CLOSING.values()].join(''));

/** Quotation marks that are always opening marks if a space is on both sides, as in French. */
const OPENS_ALONE = new Set('«‹');
const CLOSES_ALONE = new Set('»›');

const WORD = /[\p{L}\p{N}]/u;

// Limits the computing time.
const MOST_OPEN = 8;

interface OpenMark {
  readonly mark: string;
  readonly index: number;
}

/**
 * Finds the quotations and brackets of a text. A quotation mark before a word opens a quotation, and one after a word
 * closes it. A mark between spaces closes an open quotation; without an open quotation, it opens one. Every quotation
 * ends with its paragraph at the latest.
 */
export function findQuotations(tokens: readonly CaptionToken[]): Quotations {
  const all: Quotation[] = [];
  const marks = new Map<number, 'opening' | 'closing'>();
  let open: OpenMark[] = [];
  // Returns false if the mark closes no open quotation.
  const close = (mark: string, index: number): boolean => {
    const at = open.findLastIndex((each) => CLOSING.get(each.mark)?.includes(mark) === true);
    if (at === -1) return false;
    all.push({ first: open[at]?.index ?? index, last: index });
    open = open.slice(0, at);
    return true;
  };
  const begin = (mark: string, index: number): void => {
    open = [...open, { mark, index }].slice(-MOST_OPEN);
  };
  for (const [index, { lineBreaks, text }] of tokens.entries()) {
    if (lineBreaks > 1) open = [];
    if (!WORD.test(text)) {
      for (const mark of text) {
        const closes = !OPENS_ALONE.has(mark) && ALL_CLOSING.has(mark) && close(mark, index);
        if (closes || CLOSES_ALONE.has(mark)) {
          marks.set(index, 'closing');
        } else if (CLOSING.has(mark)) {
          begin(mark, index);
          if (!marks.has(index)) marks.set(index, 'opening');
        }
      }
      continue;
    }
    const signs = Array.from(text);
    const first = signs.findIndex((sign) => WORD.test(sign));
    const last = signs.findLastIndex((sign) => WORD.test(sign));
    for (const mark of signs.slice(0, first)) if (CLOSING.has(mark)) begin(mark, index);
    for (const mark of signs.slice(last + 1)) if (ALL_CLOSING.has(mark)) close(mark, index);
  }
  return { all, marks };
}
