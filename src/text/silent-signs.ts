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
