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
  if (NOTE_LIST.test(content) && NAME_END.test(base)) return '';
  if (/^[a-z]$/.test(content) && (WORD_END.test(base) || PUNCTUATION_END.test(base))) return '';
  const isPower = EXPRESSION.test(content) && isExponentBase(base, content, next);
  const isNaturalPower = NATURAL_POWER.test(content) && /(?:^|[^\p{L}])e$/u.test(base);
  return isPower || isNaturalPower ? `^${content}` : raised;
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
  if (FRACTION_LINE.test(next) && !/[\p{L})]$/u.test(base))
    return (/\d$/.test(base) ? ' ' : '') + content;
  if (base === '' || /\s$/.test(base)) {
    // The number of a verse or note stands before a word, and that of an isotope before a chemical symbol.
    if (/^\p{L}\p{Ll}{2}/u.test(next)) return `${content} `;
    return base === '' || /^\p{L}/u.test(next) || SENTENCE_END.test(base) ? content : '';
  }
  const isPower = isExponentBase(base, content, next) && !YEAR_END.test(base);
  return isPower ? superscriptDigits(content) : '';
}

// Returns true if a superscript after `base` is more likely an exponent than the mark of a note.
function isExponentBase(base: string, content: string, next: string): boolean {
  if (EXPONENT_BASE.test(base)) return true;
  const letters = /\p{L}+$/u.exec(base)?.[0] ?? '';
  if (letters === '') return false;
  // The mark of a note has no sign, and no letter follows it.
  if (/^[-−–+]/.test(content)) return true;
  if (letters.length > LONGEST_PRODUCT) return false;
  if (AFTER_OPERATOR.test(base.slice(0, -letters.length)) || TERM_START.test(next)) return true;
  return content.length === 1 && PRODUCT.test(letters);
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from('0123456789+-−–', (sign, at) => [sign, '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻'.charAt(at)]),
);

const INTEGER = /^[-−–+]?\d{1,4}$/;
const FRACTION_LINE = /^[/⁄]\s?(?:\d|$)/;
const NOTE_LIST = /^\d{1,4}(?:\s?[,;–-]\s?\d{1,4})+$/;
// The exponent of a power of e.
const NATURAL_POWER = /^[-−+]?\d*[\p{Ll}π]{1,3}(?:[-−–+*/]\d*\p{Ll}{1,3})*$/u;
const EXPRESSION = /^[-−+]?(?:\d*[kmnptxyz]|\d+)(?:[-−–+*/](?:\d*[kmnptxyz]|\d+))*$/;
const BRACKETED = /^(?:\[[^[\]]{1,40}\]\s*)+$/;
const SIGNS = /^(?:[*†‡§¶#↩↑⤴^]|\p{Variation_Selector})+$/u;
const NOTE_LINK =
  /^\[(?:(?:notes?|nb|fn|ref|n)\.?\s?)?(?:\d{1,4}|[a-z]|[ivx]{1,6}|[*†‡§¶]+)(?:\s?[,–-]\s?\d{1,4})*\]$/iu;
const RAISED_MARK = /^[([]?[\p{L}\p{N}]{1,4}[)\]]?$/u;
const PAGE_NUMBER =
  /^[[({|–—-]*\s?(?:(?:pages?|pg|p)\b\.?\s?)?(?:[a-z]-?)?(?:\d{1,5}|[ivxlcdm]{1,9})\s?[\])}|–—-]*$/i;

const WORD_END = /\p{L}{4}$/u;
// The end of a word, or of the initials of an author.
const NAME_END = /[\p{L}.]$/u;
const SENTENCE_END = /[.!?"”]\s$/;
const PUNCTUATION_END = /[.,;:!?…%"'”’»]\s?$/u;
// A number or a decade that is more likely the year before the mark of a note than a base.
const YEAR_END = /(?:^|[^\d.,])(?:1[5-9]\d|20[0-3])(?:\d|0s)$/;
const FUNCTIONS = 'sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|log|ln';
const UNITS = [
  String.raw`[kcdmn\u00b5\u03bc]m|[km\u00b5\u03bcn]?g|[mn\u00b5\u03bc]s|[km]?mol|[kMGT]?Hz|k?Nm?|[hkMG]Pa|[kMGT]?J`,
  String.raw`[kMGT]?Wh?|[km]V|[kMGT]?eV|mA|cd|lm|lx|sr|[mc]?L|ml|dB|Bq|Gy|Sv|Wb|Torr|psi|rpm|ft|yd|mi|sec|lb|oz|ly|k?pc|Mpc`,
  String.raw`feet|inch(?:es)?|miles?|yards?|(?:\p{Ll}{4,5})?met(?:er|re)s?|seconds?`,
].join('|');
// Units that are words too.
const WORD_UNITS = 'in|min|bar|rad|ha|au|cal|Pa';
// A digit, a letter alone, a unit, a function, or an expression in parentheses.
const EXPONENT_BASE = new RegExp(
  [
    String.raw`\d$|(?:^|[^\p{L}])(?:\p{L}|${UNITS}|${FUNCTIONS})$`,
    String.raw`[\d/\u00b7\u22c5]\s?(?:${WORD_UNITS})$|(?<!\p{L}{3})\)$`,
  ].join('|'),
  'u',
);

const LONGEST_PRODUCT = 4;
// Letters that are no word: two consonants, coordinates, a Greek letter before a Latin one, or a capital letter after a
// small one.
const PRODUCT =
  /^(?!(?:bn|cf|ch|cp|ff|hm|mn|nd|pH|pm|pp|rd|sh|st|th|tv|vs)$)(?:[b-df-hj-np-tv-z]{2}|[xyz]{2,3}|a[bxz]|[\p{Script=Greek}]{1,2}[\p{Script=Latin}]{1,2}|\p{Ll}\p{Lu})$/u;
const AFTER_OPERATOR = /(?:[=−×·⋅∙*^√<>≤≥≈½¼⅓]\s?|\s[+/]\s)$/u;
// The rest of a product, or an operator.
const TERM_START = /^(?:\p{L}|\s?[=×·⋅∙≤≥≈]|\s[+−*/<>]\s|\/(?:\d|\p{L}(?!\p{L})))/u;
