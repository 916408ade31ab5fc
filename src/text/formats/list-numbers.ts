import { Parser } from 'htmlparser2';

/** The numbers of the items of a list. */
export class ListNumbers {
  readonly #isNumbered: boolean;
  readonly #isLettered: boolean;
  readonly #step: number;
  #number: number;

  /** @param count number of items, from which a reversed list without `start` counts; undefined if it is unknown */
  constructor(
    name: 'ol' | 'ul',
    { reversed, start = '', style = '', type = '1' }: Readonly<Record<string, string>>,
    count?: number,
  ) {
    const isReversed = reversed !== undefined;
    const first = INTEGER.test(start) ? Number(start) : isReversed ? count : 1;
    const isShown = !/list-style[^;]{0,60}none/i.test(style);
    this.#isNumbered = name === 'ol' && first !== undefined && isShown;
    this.#isLettered = /^a$/i.test(type) || /list-style[^;]{0,60}(?:alpha|latin)/i.test(style);
    this.#step = isReversed ? -1 : 1;
    this.#number = first ?? 1;
  }

  /** Returns the number of the next item, such as `1.`; empty if the items have no numbers. */
  next(value = ''): string {
    const number = INTEGER.test(value) ? Number(value) : this.#number;
    this.#number = number + this.#step;
    if (!this.#isNumbered) return '';
    return `${this.#isLettered && number >= 1 ? lettersOf(number) : number}.`;
  }
}

// `A` for 1, `AA` for 27.
function lettersOf(number: number): string {
  const last = String.fromCodePoint(65 + ((number - 1) % 26));
  return number > 26 ? lettersOf(Math.floor((number - 1) / 26)) + last : last;
}

const INTEGER = /^\s*-?\d{1,9}\s*$/;

/** Returns the number of items of each list of HTML with the attribute `reversed`, in the order of their beginnings. */
export function reversedCounts(html: string): readonly number[] {
  if (!REVERSED.test(html)) return [];
  const counts: number[] = [];
  const open: { readonly index: number | undefined }[] = [];
  const parser = new Parser({
    onopentag(name, { reversed }) {
      if (name === 'ol' && reversed !== undefined) open.push({ index: counts.push(0) - 1 });
      else if (name === 'ol' || name === 'ul') open.push({ index: undefined });
      const index = name === 'li' ? open.at(-1)?.index : undefined;
      if (index !== undefined) counts[index] = (counts[index] ?? 0) + 1;
    },
    onclosetag(name) {
      if (name === 'ol' || name === 'ul') open.pop();
    },
  });
  for (let at = 0; at < html.length; at += PIECE_UNITS) {
    parser.write(html.slice(at, at + PIECE_UNITS));
  }
  parser.end();
  return counts;
}

const REVERSED = /<ol\s[^<>]{0,400}reversed/i;
const PIECE_UNITS = 1 << 16;
