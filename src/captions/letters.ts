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
    const before = codes.length;
    for (const letter of plain(text)) {
      const code = letter.codePointAt(0) ?? 0;
      if (code < 0x80 ? !isAsciiLetter(code) : !LETTER.test(letter)) continue;
      codes.push(code);
      owners.push(owner);
    }
    counts[owner] = codes.length - before;
  }
  return { codes: Int32Array.from(codes), owners: Int32Array.from(owners), counts };
}

const LETTER = /[\p{L}\p{N}]/u;
const ASCII = /^[\0-\x7f]*$/;

/** Of text in lower case. */
function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function plain(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
}
