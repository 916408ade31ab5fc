import type { Token } from './tokens.ts';

/** Text between quotation marks or brackets, with its marks. */
interface Quotation {
  /** Index of the first token. */
  readonly first: number;
  /** Index of the last token. */
  readonly last: number;
}

interface Quotations {
  /** The quotations, in the order of their ends. */
  readonly all: readonly Quotation[];
  /** Tokens that consist only of marks which begin or end a quotation, by index. */
  readonly marks: ReadonlyMap<number, 'opening' | 'closing'>;
}

/** The closing marks of each opening mark. `"` and `'` are both. */
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

/** Marks with one direction if they are between spaces, as in French. */
const OPENS_ALONE = new Set('«‹');
const CLOSES_ALONE = new Set('»›');

const WORD = /[\p{L}\p{N}]/u;

/** Maximum depth of quotations within quotations, which limits the computing time. */
const MOST_OPEN = 8;

interface OpenMark {
  readonly mark: string;
  readonly index: number;
}

/**
 * Finds the quotations and brackets of a text. A mark before a word opens and a mark after a word closes; a mark
 * between spaces closes if it can. A quotation ends with its paragraph.
 */
export function findQuotations(tokens: readonly Token[]): Quotations {
  const all: Quotation[] = [];
  const marks = new Map<number, 'opening' | 'closing'>();
  let open: OpenMark[] = [];
  /** Closes the innermost quotation that has this closing mark. */
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
