import { readChemical } from './chemistry.ts';
import { readNumericDate } from './dates.ts';
import type { Region } from './numbers.ts';
import { cardinal, pairs, plural, spellDigits, table, words } from './numbers.ts';
import { currencyAfter } from './currencies.ts';
import { findFormulas } from './formulas.ts';
import { readMagnitude } from './money.ts';
import { FIXED, isTennis, readPhoneGroups, readQuantity, readVersion } from './quantities.ts';
import { readBook, readBookNumber, readVerse } from './scripture.ts';
import { signName } from './signs.ts';
import type { Place, Token } from './tokens.ts';
import { isName, nextWord, previousWord, tokenize } from './tokens.ts';
import { isPerUnit, LENGTH_UNIT, unitName } from './units.ts';
import { readTechnical, splitName } from './web.ts';
import type { ReadWord } from './words.ts';
import {
  readAbbreviation,
  readCapitals,
  readDotted,
  readRoman,
  readUnit,
  spellLetters,
} from './words.ts';

export type { Region } from './numbers.ts';

/** A word of the text and its spoken form. */
export interface ReadSpan {
  /** Start of the written word in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The spoken words. Equal to the written word if the voice needs no other form; empty for an emoticon. */
  readonly spoken: string;
}

/**
 * Returns the spoken form of each word of an English text, in order. Numbers, dates, abbreviations
 * and signs become words. Spelled letters become capitals with spaces (`A P I`). The time is
 * proportional to the length of the text.
 */
export function readEnglish(
  text: string,
  { region }: { readonly region: Region },
): readonly ReadSpan[] {
  const formulas = /[$\\]/.test(text) ? findFormulas(text) : [];
  if (formulas.length === 0) return readWords(text, region);
  let others = '';
  for (const { end, start } of formulas) {
    others += text.slice(others.length, start) + ' '.repeat(end - start);
  }
  const read = formulas.map(({ end, start, text: formula }) => {
    const written = formula.replaceAll(FRACTION_LINE, ' over ');
    return { start, end, spoken: spokenText(written, readWords(written, region)) };
  });
  const spans = [...readWords(others + text.slice(others.length), region), ...read];
  return spans.toSorted((one, other) => one.start - other.start);
}

// A fraction of two numbers has a name of its own, such as `one half`.
const FRACTION_LINE = /(?<=[^\d\s])\/|\/(?=[^\d\s])/g;

function readWords(text: string, region: Region): readonly ReadSpan[] {
  const spans: ReadSpan[] = [];
  const tokens = tokenize(text);
  let phone: readonly string[] = [];
  for (const [at, token] of tokens.entries()) {
    const place = { tokens, at, region };
    const { start, end } = token;
    if (phone.length === 0 && /^\+?\d/.test(token.text)) phone = readPhoneGroups(place) ?? [];
    const [group, ...groups] = phone;
    phone = groups;
    if (group !== undefined) spans.push({ start, end, spoken: group });
    else {
      const { spoken, takesStop = false } = readToken(token, place, text);
      if (spoken !== '' || /[\p{L}\p{N}]/u.test(token.text)) {
        spans.push({ start, end: takesStop ? end + 1 : end, spoken });
      }
    }
  }
  return spans;
}

/**
 * Returns whether a voice speaks US or British English, from its language tag (BCP 47). Returns undefined for other
 * languages.
 */
export function readingRegion(language: string): Region | undefined {
  const [primary = '', region = ''] = language.toLowerCase().split('-');
  if (primary !== 'en') return undefined;
  return /^(?:gb|ie|au|nz|za|in)$/.test(region) ? 'GB' : 'US';
}

/**
 * Returns the spoken form of a text: the spoken forms of its words, and the punctuation between the
 * words.
 */
export function spokenText(text: string, spans: readonly ReadSpan[]): string {
  let spoken = '';
  let at = 0;
  for (const span of spans) {
    const isTouching = at > 0 && at === span.start && span.spoken !== '';
    spoken += silence(text.slice(at, span.start)) + (isTouching ? ' ' : '') + span.spoken;
    at = span.end;
  }
  return (spoken + silence(text.slice(at))).trim();
}

/**
 * Replaces symbols between two words with spaces, so that a voice does not speak them. Keeps punctuation and white
 * space.
 */
export function silence(gap: string): string {
  return gap.replaceAll(/[^\s\p{L}.,;:!?…'"“”‘’()\-–—―]/gu, (sign) => ' '.repeat(sign.length));
}

function readToken(token: Token, place: Place, text: string): ReadWord {
  const word = token.text;
  if (PLAIN.test(word) && !token.after.startsWith('.')) {
    if (isProduct(word, place)) return { spoken: Array.from(word).join(' ') };
    const unit = readUnit(word, place) ?? readMagnitude(word, place) ?? readRoman(word, place);
    return unit === undefined
      ? (readAbbreviation(word, place, text) ?? { spoken: word })
      : { spoken: unit };
  }
  if (!/[\p{L}\p{N}]/u.test(word)) return { spoken: readSign(word, place, text) };
  const book = readBook(word, place);
  if (book !== undefined) return { spoken: book, takesStop: token.after.startsWith('.') };
  if (EMOTICON.test(token.before + word + token.after)) return { spoken: '' };
  if (word === 'x' && SIDE.test(previousWord(place)) && NUMERIC.test(nextWord(place))) {
    return { spoken: nextWord(place, 2).startsWith('=') ? 'times' : 'by' };
  }
  if (/^[A-F]$/.test(word) && token.after.startsWith('-'))
    return { spoken: `${word} minus`, takesStop: true };
  const stopped = readAbbreviation(word, place, text) ?? readDotted(word, place, text);
  if (stopped !== undefined) return stopped;
  const [, base = '', possessive = ''] = POSSESSIVE.exec(word) ?? [];
  if (base !== '' && !/^(?:\d\d\d0|[2-9]0)$/.test(base)) {
    const spoken = readWord(base, place);
    return { spoken: spoken === base ? word : spoken + possessive };
  }
  return { spoken: readWord(word, place), takesStop: isUnitStop(token, place) };
}

/** Returns true for the full stop of a unit after a hyphen, as in `a 12-in. pan`. */
function isUnitStop({ after, text }: Token, { at, tokens }: Place): boolean {
  return (
    after === '.' &&
    /\d-(?:in|ft|lb|oz|yd|mi|qt|gal|pt)$/.test(text) &&
    /^[a-z]/.test(tokens[at + 1]?.text ?? '')
  );
}

const PLAIN = /^[a-wyz]$|^[a-z]{2,}$/;
const SIDE = /\d["″”'′’]?$|^(?:ft|in|m|cm|mm|feet|inches|px)$/;
const INITIALS = /^(?:[A-Z]\.){2,8}$/;
const POSSESSIVE = /^(.{1,120})(['’]s)$/u;
const EMOTICON = /^(?:[:;]['’]?-?[DPpOo3]|=[DPpOo]|8-[DP]|<3|[xX]D|[oO]_[oO])[.!]?$/;
const LETTERS = /^\p{L}[\p{L}\p{M}\p{Cf}'’]*$/u;

function readWord(word: string, place: Place): string {
  const before = previousWord(place);
  return (
    (INITIALS.test(word) ? spellLetters(word.replaceAll('.', '')) : undefined) ??
    readBookNumber(word, place) ??
    readVerse(word, place) ??
    readRoman(word, place) ??
    readUnit(word, place) ??
    readMagnitude(word, place) ??
    (/^\d/.test(before) ? currencyAfter(word, before) : undefined) ??
    FIXED.get(word) ??
    readNumericDate(word, place) ??
    readTechnical(word, place) ??
    readQuantity(word, place) ??
    readChemical(word) ??
    readPer(word, place) ??
    (/\/|[a-z]{2}[²³]$/.test(word) ? unitName(word, /^(?:per|a)$/.test(before)) : undefined) ??
    (LETTERS.test(word) ? readLetters(word, place) : readParts(word, place))
  );
}

function readPer(word: string, place: Place): string | undefined {
  const [, amount = '', unit = ''] = /^([^/]{1,30}\d[^/]{0,10})\/([a-zA-Z]{1,8})$/.exec(word) ?? [];
  const isPrice = /^\p{Sc}/u.test(amount) && /^[a-z]{3,8}$/.test(unit);
  if (unit === '' || !(isPrice || isPerUnit(unit))) return undefined;
  const spoken = readQuantity(amount, place);
  const name = unitName(unit, true) ?? unit;
  return spoken === undefined ? undefined : `${spoken} per ${name}`;
}

/** Returns a Greek letter before one or two others as a product: `πr` → `pi r`. */
function greekProduct(word: string): string | undefined {
  const [, greek = '', others = ''] = /^(\p{Script=Greek})([A-Za-z]{1,2})$/u.exec(word) ?? [];
  const name = letterName(greek);
  return name === undefined ? undefined : [name, ...Array.from(others)].join(' ');
}

function readLetters(word: string, place: Place): string {
  return (
    letterName(word) ??
    greekProduct(word) ??
    (/^.\P{Lu}*$/u.test(word) ? word : readCapitals(word, place))
  );
}

/** Returns true for variables without a sign between them, such as the `ma` of `F = ma`. */
function isProduct(word: string, place: Place): boolean {
  return (
    isVariables(word) && previousWord(place) === '=' && /^\p{L}$/u.test(previousWord(place, 2))
  );
}

/** Returns true for two or three small letters that are no word. */
function isVariables(word: string): boolean {
  return /^(?:[a-z]{2}|[b-df-hj-np-tv-xz]{3})$/.test(word) && !SHORT_WORDS.has(word);
}

const SHORT_WORDS = new Set(
  words(
    'ad ah am an as at be by do eh er ex go ha he hi id if in is it me my no of oh ok on or ox pi so to up us we',
  ),
);

/** Returns the English name of a Greek letter, such as `mu` for `μ`. Returns undefined for letters without a name. */
export function letterName(letter: string): string | undefined {
  return GREEK.get(letter.normalize('NFKC'));
}

const GREEK = table(
  'α=alpha|β=beta|γ=gamma|δ=delta|ε=epsilon|θ=theta|λ=lambda|μ=mu|π=pi|ρ=rho|σ=sigma|τ=tau|φ=phi|χ=chi|ψ=psi|ω=omega|Δ=delta|Ω=omega|Σ=sigma',
);

const LONE_SIGNS =
  table(`&=and|&&=and|§§=sections|+=plus|==equals|===equals|!==is not equal to|≠=is not equal to|≤=is at most|≥=is at least
  +==plus equals|-==minus equals|@=at|%=percent|<=is less than|>=is greater than|<==is at most|>==is at least|×=times
  ÷=divided by|±=plus or minus|≈=is about|→=to|->=to|=>=to|⇒=to|§=section|°=degrees`);
const NUMERIC = /^[\p{Sc}~-]?\d|\d$/u;

function readSign(sign: string, place: Place, text: string): string {
  const before = previousWord(place);
  // A line that begins with a dollar sign is a command.
  const isPrompt = sign === '$' && before === '';
  const name = currencyAfter(sign, before) ?? signName(sign);
  if (name !== undefined && !isPrompt) return name;
  const after = place.tokens[place.at + 1]?.text ?? '';
  if (sign === '©') return /^\d/.test(after) && !/^copyright$/i.test(before) ? 'copyright' : '';
  if (before === '' && place.at === 0 && !/[§@≈±]/.test(sign)) return '';
  if (after === '' && !/[%°]/.test(sign)) return '';
  if (sign === '–' || sign === '-') return readDash(sign, place, text);
  if (sign === '*' || sign === '/') {
    const isSum = NUMERIC.test(before) && NUMERIC.test(after);
    return isSum ? (sign === '*' ? 'times' : 'divided by') : sign === '/' ? 'slash' : '';
  }
  const unit = nextWord(place, nextWord(place, 2) === '×' ? 4 : 2);
  const isScreen = /^\d{4}$/.test(before) && /^\d{3,4}$/.test(after) && nextWord(place, 2) !== '=';
  const isSize = sign === '×' && (/^\p{L}/u.test(before) || LENGTH_UNIT.test(unit) || isScreen);
  if (isSize && NUMERIC.test(after)) return 'by';
  // A menu, as in `File > Save`.
  if (sign === '>' && isName(before) && isName(after)) return '';
  const spoken = LONE_SIGNS.get(sign) ?? '';
  return /^(?:\p{Lu}\p{Ll}+|stay|be|is|are|keep)$/u.test(before)
    ? spoken.replace(/^is /, '')
    : spoken;
}

function readDash(sign: string, place: Place, text: string): string {
  const { tokens, at } = place;
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  if (before === undefined || after === undefined) return '';
  const isTight = !/\s/.test(text.slice(before.end, after.start));
  const isTime = isTight && /^(?:[ap]\.?m|noon|midnight)$/i.test(before.text);
  const areNumbers = (isTime || NUMERIC.test(before.text)) && NUMERIC.test(after.text);
  const isSum = sign === '-' && /^[=<>]/.test(tokens[at + 2]?.text ?? '');
  const isDraw = /^\d\d?$/.test(before.text) && before.text === after.text;
  const around = text.slice(Math.max(0, before.start - 5), after.end + 5);
  if (areNumbers) return isSum ? 'minus' : isTight && (isDraw || isTennis(around)) ? '' : 'to';
  return sign === '–' && isTight && isName(before.text) && isName(after.text) ? 'to' : '';
}

const INNER_SIGNS =
  table(`&=and|+=plus|==equals|@=at|%=percent|<=less than|>=greater than|×=times|÷=divided by|±=plus or minus|≈=about|→=to
  °=degrees|\\=backslash|#=number|$=dollar|€=euro|£=pound|§=section|²=squared|³=cubed|^=to the power of|©=copyright|≤=is at most|≥=is at least|≠=is not equal to|√=square root of|∞=infinity`);
const PART =
  /(?:\p{Lu}\.){2,8}|\d{1,3}0s(?!\p{L})|\d{1,9}(?:st|nd|rd|th)(?!\p{L})|\p{Sc}\d{1,9}(?:\.\d{1,2})?(?:k|K|m|M|bn|B)?(?=-)|\d{1,3}\/\d{1,3}(?=-)|\p{L}[\p{L}\p{M}\p{Cf}'’]*|\d{1,15}(?:[.,:]\d{1,15})*|./gsu;
const HYPHEN = /^[-‐‑]$/;
// After a letter, a single `²` or `³` has a word of its own.
const EXPONENT =
  /(?<=\d)⁻?[⁰¹²³⁴-⁹]{1,3}|(?<=(?:^|\P{L})\p{L}|\p{L}(?=⁻)|\))(?:⁻[⁰¹²³⁴-⁹]{1,3}|[⁰¹⁴-⁹]|[⁰¹²³⁴-⁹]{2,3})/gu;
const SUBSCRIPT = /[₀-₉]/g;

function readParts(written: string, place: Place): string {
  const word = written
    .replaceAll(SUBSCRIPT, (digit) => String(digit.charCodeAt(0) - 0x2080))
    .replaceAll(EXPONENT, (signs) => `^${signs.normalize('NFKC').replace('−', '-')}`);
  const parts = word.match(PART) ?? [];
  const isCompound = parts.length > 1 && parts.length < 40;
  const spoken = parts.map((part, at) => readPart(part, { ...place, word, parts, index: at }));
  if (isCompound && parts.every((part, at) => part === spoken[at] || HYPHEN.test(part)))
    return written;
  return spoken
    .join(' ')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ (?=[,.])/g, '')
    .trim();
}

function isMinus({ index, parts, word }: PartPlace): boolean {
  const before = parts[index - 1] ?? '';
  return before === '^' || word.includes('=') || (/^(?:T|UTC|GMT)$/.test(before) && index === 1);
}

interface PartPlace extends Place {
  readonly word: string;
  readonly parts: readonly string[];
  readonly index: number;
}

function readPart(part: string, place: PartPlace): string {
  const { index, parts, region, word } = place;
  const [before = '', after = ''] = [parts[index - 1], parts[index + 1]];
  const alone: Place = {
    tokens: [{ text: part, start: 0, end: part.length, before: '', after: '' }],
    at: 0,
    region,
  };
  if (/^[\d\p{Sc}]./u.test(part) || /^\d/.test(part)) return readDigits(part, place, alone);
  if (INITIALS.test(part)) return spellLetters(part.replaceAll('.', ''));
  if (/^\p{L}/u.test(part)) return readPartLetters(part, place, alone);
  if (part === '−' && /^\p{L}$/u.test(before)) return 'minus';
  if (HYPHEN.test(part) || part === '−') return isMinus(place) ? 'minus' : '';
  if (part === '/')
    return /^\p{L}\p{Ll}+$/u.test(before) && /^\p{L}\p{Ll}+$/u.test(after) ? 'slash' : '';
  const isInside = /[\p{L}\d]$/u.test(before) && /^[\p{L}\d]/u.test(after);
  if (part === '.') return isInside && word.length < 80 ? 'dot' : '';
  if (VULGAR.has(part) && /^\d+$/.test(before)) return `and ${VULGAR.get(part)}`;
  if (part === '*' || part === 'x') return /^\d/.test(before) && /^\d/.test(after) ? 'times' : '';
  if (/[,;:]/.test(part)) return ',';
  // Engines know other digits, such as `３` and `Ⅳ`, by their ASCII forms.
  const fraction = VULGAR.get(part);
  if (fraction !== undefined) return fraction.replace(/^an? /, 'one ');
  // The note, as in `F#`.
  if (part === '#' && index === 1 && /^[A-G]$/.test(before)) return 'sharp';
  return INNER_SIGNS.get(part) ?? signName(part) ?? (/\p{N}/u.test(part) ? part : '');
}

const VULGAR = table(
  '½=a half|¼=a quarter|¾=three quarters|⅓=a third|⅔=two thirds|⅛=an eighth|⅜=three eighths|⅝=five eighths|⅞=seven eighths|⅕=a fifth|⅖=two fifths|⅗=three fifths|⅘=four fifths|⅙=a sixth|⅚=five sixths',
);

function readDigits(part: string, place: PartPlace, alone: Place): string {
  const { index, parts, region } = place;
  const before = parts[index - 1] ?? '';
  const isAfterLetters =
    /^\p{L}/u.test(before) ||
    (before === '-' && /^(?:[A-Z]+|[A-Z][a-z])$/.test(parts[index - 2] ?? ''));
  if (isAfterLetters && /^(?:[1-9]\d?|\d{3})$/.test(part)) {
    const spoken = part.length === 3 ? pairs(part) : cardinal(part, region);
    return parts[index + 1] === 's' ? plural(spoken) : spoken;
  }
  if (before === '-' && /^\d{5,15}$/.test(part)) return spellDigits(part);
  const isList = part.includes(',') && !/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(part);
  if (/^\d+(?:\.\d+){2,}$/.test(part)) return readVersion(part, region);
  const whole = isList ? undefined : readQuantity(part, alone);
  // `a $50-a-plate dinner`, unlike `it costs $50-a-plate`.
  const isRate = /^\p{Sc}/u.test(part) && /^an?$/.test(parts[index + 2] ?? '');
  if (isRate && nextWord(place) !== '') return whole?.replace(/s$/, '') ?? part;
  const numbers = (part.match(/\d+/g) ?? []).map((one) =>
    one.length < 5 ? cardinal(one, region) : spellDigits(one),
  );
  return whole ?? numbers.join(', ');
}

function readPartLetters(part: string, { index, parts }: PartPlace, alone: Place): string {
  const before = parts[index - 1] ?? '';
  const isAfterDigits =
    /^\d/.test(before) || (before === '-' && /^\d/.test(parts[index - 2] ?? ''));
  if (part === 's' && /^\d/.test(before) && index > 1) return '';
  // A minor key, as in `C♯m`.
  if (part === 'm' && /^[♭♯#]$/.test(before)) return 'minor';
  // The word, as in `2-in-1`.
  if (part === 'in' && parts[index + 1] === '-') return part;
  const isOne = before === '-' || before === '1';
  const unit = isAfterDigits && part.length > 1 ? unitName(part, isOne) : undefined;
  if (unit !== undefined) return unit;
  // A version, as in `IPv6`.
  const [, name] = /^([A-Z]{2,8})v$/.exec(part) ?? [];
  if (name !== undefined && /^\d/.test(parts[index + 1] ?? '')) {
    return `${readLetters(name, alone)} V`;
  }
  const isBesideDigits = /^\d/.test(before) || /^\d/.test(parts[index + 1] ?? '');
  const isSpelled =
    isBesideDigits &&
    /^[\x20-\x7E]*$/.test(part) &&
    (part.length < 3 || !/[aeiouyAEIOUY]/.test(part) || /^[A-Z]{3}$/.test(part)) &&
    !/^[a-z]{2}$/.test(part);
  if (isSpelled && part !== 'COVID') return spellLetters(part);
  if (part.length === 1) return part;
  const product = greekProduct(part);
  if (product !== undefined) return product;
  const isPower = /^[²³^]$/.test(parts[index + 1] ?? '');
  if (isPower && isVariables(part) && unitName(part, true) === undefined)
    return Array.from(part).join(' ');
  return part.includes('_') ? splitName(part, alone) : readLetters(part, alone);
}
