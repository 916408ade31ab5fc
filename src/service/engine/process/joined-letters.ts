/**
 * Joins the letters that a reading spells, so that engines speak their names: `A P I` → `A.P.I`, `I Ds` → `I-D's`.
 * espeak-ng, which Piper and British voices of Kokoro use too, says a separate `A` as the article, and the plural `Os` as `O S`.
 */
export function joinLetters(spoken: string): string {
  return spoken
    .replaceAll(SPELLED, (_match, spelled: string, ending: string | undefined) => {
      const letters = spelled.split(' ');
      if (ending === undefined) return letters.join('.');
      // With dots, espeak-ng says `dot` in two letters that have an ending.
      return `${letters.join(letters.length === 2 ? '-' : '.')}'s`;
    })
    .replaceAll(PLURAL, "$1's")
    .replaceAll(LETTER_A, 'A-');
}

const SPELLED = /(?<![\w'’.-])([A-Z](?: [A-Z])+)(['’]?s)?(?![\w'’])/g;
// One letter, as in the reading of `MP3s and Cs`.
const PLURAL = /(?<![\w'’.-])([A-Z])s(?![\w'’])/g;
// A letter before a number or a word, as in the reading of `A4`.
const LETTER_A = /(?<![\w'’.-])A (?=[a-z])/g;
