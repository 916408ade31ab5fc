/** The letters and digits of a row of texts, each with the index of the text that it is from. */
export interface Letters {
  /** Code points, without case, accents and presentation forms. */
  readonly codes: Int32Array;
  readonly owners: Int32Array;
  /** How many letters each text has. */
  readonly counts: Int32Array;
}

/** What two spellings of the same words have in common: their letters, whatever is between them. */
export function lettersOf(texts: readonly string[]): Letters {
  const codes: number[] = [];
  const owners: number[] = [];
  const counts = new Int32Array(texts.length);
  for (const [owner, text] of texts.entries()) {
    for (const [letter] of plain(text).matchAll(LETTER)) {
      codes.push(letter.codePointAt(0) ?? 0);
      owners.push(owner);
      counts[owner] = (counts[owner] ?? 0) + 1;
    }
  }
  return { codes: Int32Array.from(codes), owners: Int32Array.from(owners), counts };
}

const LETTER = /[\p{L}\p{N}]/gu;

function plain(text: string): string {
  return text.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
}
