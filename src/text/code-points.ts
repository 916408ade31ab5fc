// foley counts characters as Unicode code points. An unpaired surrogate counts as one.

/** Counts the code points of a text without allocating memory. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at + 1 < text.length; at += 1) {
    if (isPairAt(text, at)) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** Returns whether `text` has more than `limit` code points. Counts no further than the limit. */
export function hasMoreCodePointsThan(text: string, limit: number): boolean {
  return text.length > limit && codePointOffset(text, limit) < text.length;
}

/** Returns the part of a text from `start` up to but not including `end`, both counted in code points. */
export function sliceCodePoints(text: string, start: number, end = Infinity): string {
  const from = codePointOffset(text, start);
  return text.slice(from, codePointOffset(text, end - start, from));
}

/**
 * Returns the UTF-16 index `count` code points after the UTF-16 index `from`. If the text ends earlier, returns its
 * length.
 */
export function codePointOffset(text: string, count: number, from = 0): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left -= 1) {
    at += isPairAt(text, at) ? 2 : 1;
  }
  return at;
}

/** Slices a text at positions in code points. All slices together take linear time if their starts never decrease. */
export class CodePointSlicer {
  readonly #text: string;
  #count = 0;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the part from `start` up to but not including `end`, both counted in code points. */
  slice(start: number, end: number): string {
    if (start < this.#count) {
      this.#count = 0;
      this.#at = 0;
    }
    this.#at = codePointOffset(this.#text, start - this.#count, this.#at);
    this.#count = start;
    return this.#text.slice(this.#at, codePointOffset(this.#text, end - start, this.#at));
  }
}

function isPairAt(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

// White space, and punctuation that is spoken as a pause or not at all.
const SILENT = '[\\s\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Cf}.,;:!?…\'"¿¡·]';
// Constructed when needed: every command loads this file, and V8 takes half a millisecond for them.
let leading: RegExp | undefined;
let trailing: RegExp | undefined;

/**
 * Removes the silent punctuation around a word: `“don't…”` becomes `don't`.
 * @returns the word, which may be empty, and its UTF-16 index in `text`
 */
export function withoutSilentSigns(text: string): { readonly at: number; readonly word: string } {
  leading ??= new RegExp(`^${SILENT}+`, 'u');
  trailing ??= new RegExp(`${SILENT}+$`, 'u');
  const at = leading.exec(text)?.[0].length ?? 0;
  return { at, word: text.slice(at).replace(trailing, '') };
}
