/**
 * Returns the text that a superscript adds to a document: an exponent as in `10⁶` or `x^n`, an empty string for the mark
 * of a note, otherwise the text of the superscript.
 * @param base the text before the superscript; a few characters suffice
 * @param raised the text of the superscript
 * @param next the text after the superscript; a few characters suffice
 */
export function superscriptText(base: string, raised: string, next: string): string {
  const content = raised.trim();
  if (BRACKETED.test(content) || SIGNS.test(content)) return '';
  if (INTEGER.test(content)) return numberText(base, content, next);
  if (NOTE_LIST.test(content) || /^[a-z]$/.test(content)) {
    if (WORD_END.test(base) || PUNCTUATION_END.test(base)) return '';
  }
  const isExponent = EXPRESSION.test(content) && EXPONENT_BASE.test(base);
  return isExponent ? `^${content}` : raised;
}

/** Returns digits and signs as superscript characters, such as `⁻⁶` for `-6`. */
export function superscriptDigits(digits: string): string {
  return Array.from(digits, (sign) => SUPERSCRIPTS[sign] ?? sign).join('');
}

/**
 * Returns true if the text of a link within the document is the mark of a note, such as `[15]` or `*`.
 * @param isRaised whether the text is a superscript, which may be a number without brackets
 */
export function isNoteMark(text: string, isRaised: boolean): boolean {
  const mark = text.trim();
  return NOTE_LINK.test(mark) || SIGNS.test(mark) || (isRaised && RAISED_MARK.test(mark));
}

/** Returns true if the text of a page break is only the number of the page, such as `13` or `[Pg xii]`. */
export function isPageNumber(text: string): boolean {
  return PAGE_NUMBER.test(text.trim());
}

function numberText(base: string, content: string, next: string): string {
  if (/^[/⁄]/.test(next)) return (/\d$/.test(base) ? ' ' : '') + content;
  if (base === '' || /\s$/.test(base)) {
    // The number of a verse or note stands before a word, and that of an isotope before a chemical symbol.
    if (/^\p{L}\p{Ll}{2}/u.test(next)) return `${content} `;
    return base === '' || /^\p{L}/u.test(next) || SENTENCE_END.test(base) ? content : '';
  }
  return EXPONENT_BASE.test(base) && !YEAR_END.test(base) ? superscriptDigits(content) : '';
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from('0123456789+-−–', (sign, at) => [sign, '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻'.charAt(at)]),
);

const INTEGER = /^[-−–+]?\d{1,4}$/;
const NOTE_LIST = /^\d{1,4}(?:\s?[,;–-]\s?\d{1,4})+$/;
const EXPRESSION = /^[-−+]?(?:\d*[kmnptxyz]|\d+)(?:[-−–+*/](?:\d*[kmnptxyz]|\d+))*$/;
const BRACKETED = /^(?:\[[^[\]]{1,40}\]\s*)+$/;
const SIGNS = /^(?:[*†‡§¶#↩↑⤴^]|\p{Variation_Selector})+$/u;
const NOTE_LINK =
  /^\[(?:(?:notes?|nb|fn|ref|n)\.?\s?)?(?:\d{1,4}|[a-z]|[ivx]{1,6}|[*†‡§¶]+)(?:\s?[,–-]\s?\d{1,4})*\]$/iu;
const RAISED_MARK = /^[([]?[\p{L}\p{N}]{1,4}[)\]]?$/u;
const PAGE_NUMBER =
  /^[[({|–—-]*\s?(?:(?:pages?|pg|p)\b\.?\s?)?(?:[a-z]-?)?(?:\d{1,5}|[ivxlcdm]{1,9})\s?[\])}|–—-]*$/i;

const WORD_END = /\p{L}{4}$/u;
const SENTENCE_END = /[.!?"”]\s$/;
const PUNCTUATION_END = /[.,;:!?…%"'”’»]\s?$/u;
// A number that is more likely the year before the mark of a note than a base.
const YEAR_END = /(?:^|[^\d.,])(?:1[5-9]\d|20[0-3])\d$/;
const UNITS = String.raw`km|cm|mm|dm|nm|[\u00b5\u03bc]m|ft|in|yd|mi|sec|min|kg|lb|Hz|ms|ns|feet|inch(?:es)?|miles?|yards?|(?:\p{Ll}{4,5})?met(?:er|re)s?|seconds?`;
const FUNCTIONS = 'sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|log|ln';
// A digit, a letter alone, a unit, a function, or an expression in parentheses.
const EXPONENT_BASE = new RegExp(
  String.raw`\d$|(?:^|[^\p{L}])(?:\p{L}|${UNITS}|${FUNCTIONS})$|(?<!\p{L}{3})\)$`,
  'u',
);
