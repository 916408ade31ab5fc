import { withoutSilentSigns, countCodePoints } from '../../../text/code-points.ts';
import { splitClauses } from '../../../text/sentences.ts';
import { LONGEST_PIECE, type TextSpan } from '../speech-engine.ts';

/**
 * Rewrites a text in plain ASCII for flite: removes accents, simplifies typographic signs, spells out common symbols
 * and whole numbers, and replaces other scripts, emoji and control characters by spaces. Collapses repeated signs, and
 * splits very long words, because flite needs quadratic time for them.
 * @returns an empty string if flite would say nothing
 */
export function speakableText(text: string): string {
  return traceSpeakable(text).text;
}

function traceSpeakable(text: string): TracedText {
  const plain = new TracedText(text)
    .replace(REPEATED_SIGN, (_run, sign = '') => sign)
    .replace(AMOUNT, (_match, sign = '', amount = '') => `${amount} ${SYMBOLS.get(sign)} `)
    .replace(SYMBOL, (sign = '') => ` ${SYMBOLS.get(sign)} `)
    .replace(INVISIBLE, () => '')
    .replace(QUOTE, () => "'")
    .replace(DOUBLE_QUOTE, () => '"')
    .replace(RANGE_DASH, () => ' to ')
    .replace(DASH, () => ', ')
    .replace(HYPHEN, () => '-')
    .replace(LETTER, (letter = '') => LETTERS.get(letter) ?? letter)
    .replace(NOT_ASCII, (character = '') => character.normalize('NFKD'))
    .replace(MARK, () => '')
    .replace(FRACTION_SLASH, () => '/')
    .replace(NOT_ASCII, () => ' ')
    .replace(SPACE_BEFORE_MARK, (_match, mark = '') => mark)
    .replace(INTEGER, (_match, minus, digits = '') => `${minus && 'minus '}${readInteger(digits)}`)
    .replace(LONG_WORD, (part = '') => `${part} `)
    .replace(WHITE_SPACE, () => ' ')
    .replace(SPACE_AROUND, () => '');
  return isSaid(plain.text) ? plain : new TracedText('');
}

/** Whether flite makes a sound for an ASCII text. */
export function isSaid(text: string): boolean {
  return SAID.test(text);
}

function pairs(list: string): ReadonlyMap<string, string> {
  return new Map(list.split('|').map((pair) => [pair.charAt(0), pair.slice(2)]));
}

const SYMBOLS = pairs(
  '€ euros|£ pounds|¥ yen|₹ rupees|¢ cents|° degrees|× times|÷ divided by|± plus or minus|≈ about|' +
    '≤ at most|≥ at least|§ section|© copyright|® registered|™ trademark|µ micro',
);
const REPEATED_SIGN = /([^\p{L}\p{N}\s])\1{3,}/gu;
const SYMBOL = /[€£¥₹¢°×÷±≈≤≥§©®™µ]/g;
const AMOUNT = /([€£¥₹])\s?(\d{1,15}(?:[.,]\d{1,15}){0,5})/g;

/** ASCII spellings of letters that Unicode does not decompose into an ASCII letter and an accent. */
const LETTERS = pairs(
  'ß ss|æ ae|Æ Ae|œ oe|Œ Oe|ø o|Ø O|ł l|Ł L|đ d|Đ D|ð th|Ð Th|þ th|Þ Th|ı i|ŋ ng|ħ h|Ħ H',
);
const LETTER = /[ßæÆœŒøØłŁđĐðÐþÞıŋħĦ]/g;

/** Invisible Unicode format characters, except the zero-width space, which separates words. */
const INVISIBLE = /(?!\u200B)\p{Cf}/gu;
const QUOTE = /[‘’‚‛ʼ′`]/g;
const DOUBLE_QUOTE = /[“”„‟«»″]/g;
const RANGE_DASH = /(?<=\d)[–—](?=\d)/g;
const DASH = /\s?(?:[–—―]|--)\s?|\s-\s/g;
const HYPHEN = /[‐‑‒−]/g;
const MARK = /\p{M}/gu;
const NOT_ASCII = /[^ -~]/gu;
const FRACTION_SLASH = /\u2044/g;
const SPACE_BEFORE_MARK = / +([,;:!?])/g;
const LONG_WORD = /[^ ]{60}(?=[^ ])/g;
const WHITE_SPACE = / +/g;
const SPACE_AROUND = /^ +| +$/g;

/** Matches a character for which flite makes a sound. */
const SAID = /[A-Za-z0-9#$%&*+/=@\\^_|~]/;

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';

/** Matches a separate whole number, except a day of a month or a part of a telephone number. */
const INTEGER = new RegExp(
  String.raw`(?<=(?:^| )["'(<[{]*)(?<!\+\d[\d ]*)(?!(?<=\b${MONTH}[a-z]*\.? +)\d\d?\b|\d\d? +${MONTH})` +
    String.raw`(-?)(\d{1,3}(?:,\d{3})+|\d+)(?=[^A-Za-z0-9#$%&*+/=@\\^_|~ -]*(?: |$))`,
  'g',
);

/** Spells out a whole number such as `1,234`; a number that may be a year is spelled as a year. */
function readInteger(written: string): string {
  const digits = written.replaceAll(',', '');
  const isCode = digits.length > LONGEST_CARDINAL || /^0\d/.test(digits);
  if (isCode) return Array.from(digits, (digit) => readCardinal(Number(digit))).join(' ');
  const [, century = '', year = ''] = YEAR.exec(written) ?? [];
  if (century === '') return readCardinal(Number(digits));
  const rest =
    year === '00' ? 'hundred' : `${year < '10' ? 'oh ' : ''}${readCardinal(Number(year))}`;
  return `${readCardinal(Number(century))} ${rest}`;
}

/** Maximum number of digits of a number that is spelled out; longer numbers are read digit by digit. */
const LONGEST_CARDINAL = 15;
const YEAR = /^(1[1-9]|20(?!0))(\d\d)$/;

function readCardinal(value: number): string {
  if (value < 20) return UNITS[value] ?? '';
  const [size, name] = SCALES.find(([least]) => value >= least) ?? [1, ''];
  const count = Math.floor(value / size);
  const head = value < 100 ? (TENS[count] ?? '') : `${readCardinal(count)} ${name}`;
  return value % size === 0 ? head : `${head} ${readCardinal(value % size)}`;
}

const SCALES = [
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
  [100, 'hundred'],
  [10, ''],
] as const;
const UNITS = `zero one two three four five six seven eight nine ten eleven twelve thirteen
 fourteen fifteen sixteen seventeen eighteen nineteen`.split(/\s+/);
const TENS = ',,twenty,thirty,forty,fifty,sixty,seventy,eighty,ninety'.split(',');

/** A range of the original text, in UTF-16 units. */
interface Source {
  readonly start: number;
  readonly end: number;
}

/** A rewritten text that maps each character to a range of the original text. */
class TracedText {
  readonly text: string;
  /** The source of each UTF-16 unit of `text`, in order. */
  readonly #sources: readonly Source[];

  constructor(
    text: string,
    sources = Array.from({ length: text.length }, (_, at): Source => ({ start: at, end: at + 1 })),
  ) {
    this.text = text;
    this.#sources = sources;
  }

  /** Replaces the matches of a global pattern. The source of a replacement is the source of the whole match. */
  replace(pattern: RegExp, replacement: (...match: readonly string[]) => string): TracedText {
    let text = '';
    const sources: Source[] = [];
    let at = 0;
    for (const match of this.text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      const inserted = replacement(...match.map((group) => group ?? ''));
      text += this.text.slice(at, match.index) + inserted;
      sources.push(...this.#sources.slice(at, match.index));
      const source = this.source(match.index, end);
      for (let unit = 0; unit < inserted.length; unit += 1) sources.push(source);
      at = end;
    }
    text += this.text.slice(at);
    sources.push(...this.#sources.slice(at));
    return new TracedText(text, sources);
  }

  source(start: number, end: number): Source {
    return {
      start: this.#sources[start]?.start ?? 0,
      end: this.#sources[end - 1]?.end ?? 0,
    };
  }
}

export interface WrittenWord extends Source {
  /** The rewritten words that flite speaks for this word: `5` and `degrees` for `5°`. */
  readonly tokens: readonly string[];
}

/** Returns the words of the original text that flite can speak, in order, without punctuation at both ends. */
function writtenWords(speakable: TracedText, written: string): WrittenWord[] {
  const words: WrittenWord[] = [];
  for (const { 0: token, index } of speakable.text.matchAll(/[^ ]+/g)) {
    const outer = speakable.source(index, index + token.length);
    const { at, word } = withoutSilentSigns(written.slice(outer.start, outer.end));
    if (word === '') continue;
    const start = outer.start + at;
    const source = { start, end: start + word.length };
    const last = words.at(-1);
    if (last !== undefined && source.start <= last.end) {
      words[words.length - 1] = {
        start: last.start,
        end: Math.max(last.end, source.end),
        tokens: [...last.tokens, token],
      };
    } else words.push({ ...source, tokens: [token] });
  }
  return words;
}

/** A sentence or clause for flite, with its position in the text, counted in code points. */
export interface SpeakablePiece extends TextSpan {
  /** The sentence or clause in the original text. */
  readonly written: string;
  /** The text for flite, never empty. */
  readonly text: string;
  words(): readonly WrittenWord[];
}

/** Yields the sentences of a text, and clauses of long ones, that flite can speak. */
export function* speakablePieces(text: string): Generator<SpeakablePiece, undefined> {
  let start = 0;
  for (const { text: written } of splitClauses(text, LONGEST_PIECE)) {
    const speakable = traceSpeakable(written);
    const end = start + countCodePoints(written);
    const words = (): readonly WrittenWord[] => writtenWords(speakable, written);
    if (speakable.text !== '') yield { written, text: speakable.text, start, end, words };
    start = end;
  }
}
