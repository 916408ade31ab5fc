import { readNumericDate } from './dates.ts';
import { fraction, pairs, cardinal, type Region, spellDigits } from './numbers.ts';
import {
  currencyAfter,
  readFixed,
  readMagnitude,
  readPhone,
  readPhoneGroups,
  readQuantity,
} from './quantities.ts';
import { type Place, isName, previousWord, type Token, tokenize } from './tokens.ts';
import { isPerUnit, unitName } from './units.ts';
import { readTechnical, splitName } from './web.ts';
import {
  readAbbreviation,
  readCapitals,
  readDotted,
  readRoman,
  readUnit,
  type ReadWord,
  spellLetters,
} from './words.ts';

export type { Region } from './numbers.ts';

/** A word of the text and how it is read aloud. */
export interface ReadSpan {
  /** UTF-16 positions of the written word. */
  readonly start: number;
  readonly end: number;
  /** The spoken words; equal to the written word if it is read as it is. Empty for an emoticon. */
  readonly spoken: string;
}

/**
 * Reads English text aloud: returns how each word is spoken, in order. Numbers, dates, abbreviations and signs become
 * words; letters that are spelled are capitals with spaces. The time is proportional to the length.
 */
export function readEnglish(
  text: string,
  { region }: { readonly region: Region },
): readonly ReadSpan[] {
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

/** Returns how a voice of this language (BCP 47) reads English; undefined for other languages. */
export function readingRegion(language: string): Region | undefined {
  const [primary = '', region = ''] = language.toLowerCase().split('-');
  if (primary !== 'en') return undefined;
  return /^(?:gb|ie|au|nz|za|in)$/.test(region) ? 'GB' : 'US';
}

/** Returns a text as it is read aloud: the readings of its words, and the punctuation between them. */
export function spokenText(text: string, spans: readonly ReadSpan[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, spoken } of spans) {
    parts.push(silence(text.slice(at, start)), spoken);
    at = end;
  }
  return joinWords([...parts, silence(text.slice(at))]).trim();
}

/** Joins readings and the text between them, and adds a space where two readings touch. */
function joinWords(parts: readonly string[]): string {
  let last = '';
  return parts
    .map((part) => {
      const isTouching = isWordSign(last.at(-1)) && isWordSign(part.charAt(0));
      if (part !== '') last = part;
      return isTouching ? ` ${part}` : part;
    })
    .join('');
}

function isWordSign(unit = ''): boolean {
  return /[\p{L}\p{N}]/u.test(unit);
}

/** Replaces the signs between words that are neither punctuation nor space by as many spaces. */
export function silence(gap: string): string {
  return gap.replaceAll(/[^\s\p{L}.,;:!?…'"“”‘’()\-–—―]/gu, (sign) => ' '.repeat(sign.length));
}

function readToken(token: Token, place: Place, text: string): ReadWord {
  const word = token.text;
  if (PLAIN.test(word) && !token.after.startsWith('.')) {
    const unit = readUnit(word, place) ?? readMagnitude(word, place);
    return unit === undefined
      ? (readAbbreviation(word, place, text) ?? { spoken: word })
      : { spoken: unit };
  }
  if (!/[\p{L}\p{N}]/u.test(word)) return { spoken: readSign(word, place) };
  if (EMOTICON.test(token.before + word + token.after)) return { spoken: '' };
  const stopped = readAbbreviation(word, place, text) ?? readDotted(word, place, text);
  if (stopped !== undefined) return stopped;
  const [, base = '', possessive = ''] = POSSESSIVE.exec(word) ?? [];
  if (base !== '' && !/^\d0/.test(base)) {
    const spoken = readWord(base, place);
    return { spoken: spoken === base ? word : spoken + possessive };
  }
  return { spoken: readWord(word, place) };
}

const PLAIN = /^[a-z]+$/;
const POSSESSIVE = /^(.{1,120})(['’]s)$/u;
const EMOTICON = /^(?:[:;=8xX]['’]?-?[DPpOo3]|<3|[xX]D|[oO]_[oO])[.!]?$/;
const LETTERS = /^\p{L}[\p{L}\p{M}\p{Cf}'’]*$/u;

function readWord(word: string, place: Place): string {
  return (
    readRoman(word, place) ??
    readUnit(word, place) ??
    readMagnitude(word, place) ??
    readCode(word, place) ??
    readFixed(word) ??
    readNumericDate(word, place) ??
    readPhone(word, place) ??
    readTechnical(word, place) ??
    readQuantity(word, place) ??
    readPer(word, place) ??
    (LETTERS.test(word) ? readLetters(word, place) : readParts(word, place))
  );
}

/** Reads a currency code before or after an amount: `USD 50`. */
function readCode(word: string, place: Place): string | undefined {
  if (!/^(?:[A-Z]{3}|[€£¥₹])$/.test(word)) return undefined;
  const before = previousWord(place);
  return /^\d/.test(before) ? currencyAfter(word, before) : undefined;
}

function readPer(word: string, place: Place): string | undefined {
  const [, amount = '', unit = ''] = /^([^/]{1,30}\d[^/]{0,10})\/([a-zA-Z]{1,8})$/.exec(word) ?? [];
  if (unit === '' || !isPerUnit(unit)) return undefined;
  const spoken = readQuantity(amount, place);
  const name = unitName(unit, true) ?? unit;
  return spoken === undefined ? undefined : `${spoken} per ${name}`;
}

function readLetters(word: string, place: Place): string {
  const greek = GREEK.get(word);
  if (greek !== undefined) return greek;
  return /^.\P{Lu}*$/u.test(word) ? word : readCapitals(word, place);
}

const GREEK = new Map(
  `α=alpha β=beta γ=gamma δ=delta ε=epsilon θ=theta λ=lambda μ=mu π=pi ρ=rho σ=sigma τ=tau φ=phi χ=chi ψ=psi ω=omega Δ=delta Ω=omega Σ=sigma`
    .split(/\s+/)
    .map((entry) => [entry.charAt(0), entry.slice(2)] as const),
);

/** Signs that are read where they stand between two words. */
const LONE_SIGNS = new Map([
  ['&', 'and'],
  ['&&', 'and'],
  ['||', 'or'],
  ['+', 'plus'],
  ['=', 'equals'],
  ['==', 'equals'],
  ['!=', 'is not'],
  ['@', 'at'],
  ['%', 'percent'],
  ['<', 'is less than'],
  ['>', 'is greater than'],
  ['<=', 'is at most'],
  ['>=', 'is at least'],
  ['×', 'times'],
  ['÷', 'divided by'],
  ['±', 'plus or minus'],
  ['≈', 'is about'],
  ['→', 'to'],
  ['->', 'to'],
  ['=>', 'to'],
  ['⇒', 'to'],
  ['§', 'section'],
  ['°', 'degrees'],
]);
const NUMERIC = /^[\p{Sc}~-]?\d|\d$/u;

function readSign(sign: string, place: Place): string {
  const before = previousWord(place);
  const after = place.tokens[place.at + 1]?.text ?? '';
  if (sign === '©') return /^\d/.test(after) && !/^copyright$/i.test(before) ? 'copyright' : '';
  if (before === '' && place.at === 0) return sign === '§' ? 'section' : '';
  if (after === '' && !/[%°€£¥]/.test(sign)) return '';
  if (sign === '–' || sign === '-') return readDash(sign, place);
  if (sign === '*' || sign === '/') {
    const isSum = NUMERIC.test(before) && NUMERIC.test(after);
    return isSum ? (sign === '*' ? 'times' : 'divided by') : sign === '/' ? 'slash' : '';
  }
  return currencyAfter(sign, before) ?? LONE_SIGNS.get(sign) ?? '';
}

function readDash(sign: string, place: Place): string {
  const { tokens, at } = place;
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  if (before === undefined || after === undefined) return '';
  const isTight = before.end === tokens[at]?.start && after.start === tokens[at]?.end;
  const areNumbers = NUMERIC.test(before.text) && NUMERIC.test(after.text);
  const isSum = sign === '-' && /^[=<>]/.test(tokens[at + 2]?.text ?? '');
  if (areNumbers) return isSum ? 'minus' : 'to';
  return sign === '–' && isTight && isName(before.text) && isName(after.text) ? 'to' : '';
}

/** Names of signs inside a word that is read part by part. */
const INNER_SIGNS = new Map([
  ['&', 'and'],
  ['+', 'plus'],
  ['=', 'equals'],
  ['@', 'at'],
  ['%', 'percent'],
  ['<', 'less than'],
  ['>', 'greater than'],
  ['×', 'times'],
  ['÷', 'divided by'],
  ['±', 'plus or minus'],
  ['≈', 'about'],
  ['→', 'to'],
  ['°', 'degrees'],
  ['\\', 'backslash'],
  ['#', 'number'],
  ['$', 'dollar'],
  ['€', 'euro'],
  ['£', 'pound'],
  ['§', 'section'],
  ['²', 'squared'],
  ['³', 'cubed'],
  ['^', 'to the power of'],
  ['½', 'one half'],
  ['¼', 'one quarter'],
  ['¾', 'three quarters'],
  ['⅓', 'one third'],
  ['⅔', 'two thirds'],
  ['⅛', 'one eighth'],
  ['©', 'copyright'],
]);
const PART = /\d{1,3}0s(?!\p{L})|\p{L}[\p{L}\p{M}\p{Cf}'’]*|\d{1,15}(?:[.,:]\d{1,15})*|./gsu;
const HYPHEN = /^[-‐‑]$/;
const SUBSCRIPT = /[₀-₉]/g;

/** Reads a word of letters, digits and signs part by part: `CO2`, `A/B`, `mid-1990s`. */
function readParts(written: string, place: Place): string {
  const word = written.replaceAll(SUBSCRIPT, (digit) => String(digit.charCodeAt(0) - 0x2080));
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
  if (/^\d/.test(part)) return readDigits(part, place, alone);
  if (/^\p{L}/u.test(part)) return readPartLetters(part, place, alone);
  if (HYPHEN.test(part)) return '';
  if (part === '/')
    return /^\p{L}\p{Ll}+$/u.test(before) && /^\p{L}\p{Ll}+$/u.test(after) ? 'slash' : '';
  if (part === '.')
    return before !== '' && after !== '' && /[\p{L}\d]/u.test(before) && word.length < 80
      ? 'dot'
      : '';
  if (VULGAR.has(part) && /^\d+$/.test(before)) return `and ${readVulgar(part)}`;
  if (part === '*' || part === 'x') return /^\d/.test(before) && /^\d/.test(after) ? 'times' : '';
  if (/[,;:]/.test(part)) return ',';
  return INNER_SIGNS.get(part) ?? '';
}

const VULGAR = new Map([
  ['½', [1, 2]],
  ['¼', [1, 4]],
  ['¾', [3, 4]],
  ['⅓', [1, 3]],
  ['⅔', [2, 3]],
  ['⅛', [1, 8]],
]);

function readVulgar(sign: string): string {
  const [over = 1, under = 2] = VULGAR.get(sign) ?? [];
  return fraction(over, under, 'US').replace(/^one /, 'a ');
}

function readDigits(part: string, { index, parts, region }: PartPlace, alone: Place): string {
  const before = parts[index - 1] ?? '';
  const isAfterLetters =
    /^\p{L}/u.test(before) || (before === '-' && /^[A-Z]+$/.test(parts[index - 2] ?? ''));
  if (isAfterLetters && /^\d{3}$/.test(part)) return pairs(part);
  if (isAfterLetters && /^\d{2}$/.test(part) && !part.startsWith('0'))
    return cardinal(part, region);
  if (/^\d{1,15}(?:,\d{1,15})+$/.test(part) && !/^\d{1,3}(?:,\d{3})+$/.test(part)) {
    return part
      .split(',')
      .map((one) => cardinal(one, region))
      .join(', ');
  }
  return (
    readQuantity(part, alone) ??
    (part.match(/\d+/g) ?? [])
      .map((one) => (one.length < 5 ? cardinal(one, region) : spellDigits(one)))
      .join(', ')
  );
}

function readPartLetters(part: string, { index, parts }: PartPlace, alone: Place): string {
  const before = parts[index - 1] ?? '';
  const isAfterDigits =
    /^\d/.test(before) || (before === '-' && /^\d/.test(parts[index - 2] ?? ''));
  if (/^(?:st|nd|rd|th)$/.test(part) && /^\d/.test(before)) return part;
  const unit = isAfterDigits && part.length > 1 ? unitName(part, true) : undefined;
  if (unit !== undefined) return unit;
  const isBesideDigits = /^\d/.test(before) || /^\d/.test(parts[index + 1] ?? '');
  const isSpelled =
    isBesideDigits &&
    (part.length < 3 || !/[aeiouyAEIOUY]/.test(part) || /^[A-Z]{3}$/.test(part)) &&
    !/^[a-z]{2}$/.test(part);
  if (isSpelled && part !== 'COVID') return spellLetters(part);
  if (part.length === 1) return part;
  return part.includes('_') ? splitName(part, alone) : readLetters(part, alone);
}
