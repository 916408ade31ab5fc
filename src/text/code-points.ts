/**
 * Text measured in Unicode code points, which is what "character" means everywhere in foley: not
 * UTF-16 units and not what a reader sees as one letter. A lone surrogate counts as one. Nothing
 * here builds an array of the text's characters, so a book costs no more memory than itself.
 */

/** How many code points `text` has. */
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

/** Whether `text` has more than `limit` code points; looks no further than it must. */
export function hasMoreCodePointsThan(text: string, limit: number): boolean {
  return text.length > limit && codePointOffset(text, limit) < text.length;
}

/**
 * The code points from `start` up to but not including `end`, both counted in code points from the
 * beginning; an `end` past the text means its end. A pair of surrogates is never cut.
 */
export function sliceCodePoints(text: string, start: number, end = Infinity): string {
  const from = codePointOffset(text, start);
  return text.slice(from, codePointOffset(text, end - start, from));
}

/**
 * The UTF-16 index that lies `count` code points after index `from`, or the text's length when it
 * has fewer.
 */
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

/** Signs that are heard as a pause or not at all, and white space. */
const SILENT = String.raw`[\s\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cf}.,;:!?…'"¿¡·]`;
const LEADING = new RegExp(`^${SILENT}+`, 'u');
const TRAILING = new RegExp(`${SILENT}+$`, 'u');

/**
 * A word without the silent signs around it: `don't` of `“don't…”`. Signs within it stay.
 * @returns where it begins in UTF-16 units, and the word, which is empty where there is none
 */
export function withoutSilentSigns(text: string): { readonly at: number; readonly word: string } {
  const at = LEADING.exec(text)?.[0].length ?? 0;
  return { at, word: text.slice(at).replace(TRAILING, '') };
}
