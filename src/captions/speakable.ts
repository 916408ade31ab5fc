/** Signs that are read out, such as `&`, `%` and `€`. */
const SPOKEN_SIGN = /[\p{Sc}\p{Sm}&%‰@#§°№]/gu;
const LETTER = /\p{L}/gu;
const DIGIT = /\p{N}/gu;
const PICTURE = /[\p{So}\p{Extended_Pictographic}]/u;

/** How long a digit and a spoken sign are said, in letters. */
const DIGIT_LETTERS = 4;
const SIGN_LETTERS = 5;

/** About how long a text takes to say, in letters; 0 for what is not spoken. */
export function speakableLength(text: string): number {
  return (
    count(text, LETTER) +
    DIGIT_LETTERS * count(text, DIGIT) +
    SIGN_LETTERS * count(text, SPOKEN_SIGN)
  );
}

/** Whether a text without letters may be spoken all the same: an engine may name an emoji. */
export function isPicture(text: string): boolean {
  return PICTURE.test(text);
}

/** Whether a text begins with a sign that is read out. */
export function beginsWithSign(text: string): boolean {
  return text.search(SPOKEN_SIGN) === 0;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
