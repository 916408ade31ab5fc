// A "character" of foley is a Unicode code point; a lone surrogate counts as one.

/** Counts code points, without allocating an array of them. */
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

/** Whether `text` has more than `limit` code points; stops there. */
export function hasMoreCodePointsThan(text: string, limit: number): boolean {
  return text.length > limit && codePointOffset(text, limit) < text.length;
}

/** Returns the code points from `start` to before `end`, both in code points; never cuts a surrogate pair. */
export function sliceCodePoints(text: string, start: number, end = Infinity): string {
  const from = codePointOffset(text, start);
  return text.slice(from, codePointOffset(text, end - start, from));
}

/** Returns the UTF-16 index `count` code points after index `from`, or the text's length if that is less. */
export function codePointOffset(text: string, count: number, from = 0): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left -= 1) {
    at += isPairAt(text, at) ? 2 : 1;
  }
  return at;
}

function isPairAt(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

/** White space, and signs that are spoken as a pause or not at all. */
const SILENT = String.raw`[\s\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cf}.,;:!?…'"¿¡·]`;
const LEADING = new RegExp(`^${SILENT}+`, 'u');
const TRAILING = new RegExp(`${SILENT}+$`, 'u');

/**
 * Strips the silent signs around a word: `don't` of `“don't…”`.
 * @returns the word, which may be empty, and its UTF-16 index
 */
export function withoutSilentSigns(text: string): { readonly at: number; readonly word: string } {
  const at = LEADING.exec(text)?.[0].length ?? 0;
  return { at, word: text.slice(at).replace(TRAILING, '') };
}
