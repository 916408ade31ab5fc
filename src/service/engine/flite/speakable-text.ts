import { withoutSilentSigns, countCodePoints } from '../../../text/code-points.ts';
import { splitClauses } from '../../../text/sentences.ts';
import { LONGEST_STRETCH, type TextSpan } from '../speech-engine.ts';

/**
 * A text in the characters that flite says: plain ASCII. Accents are taken off, typographic signs
 * become plain ones, common symbols and whole numbers become words; what is left of other scripts, emoji and
 * control characters becomes space. Markup has no meaning to flite and none here: its words are said. A
 * run of the same sign is said once, and words too long for anyone are cut, as flite takes time
 * quadratic in their length.
 *
 * @returns an empty string where flite would say nothing
 */
export function speakableText(text: string): string {
  return traceSpeakable(text).text;
}

/** The same, with where each of its characters comes from. */
function traceSpeakable(text: string): TracedText {
  const plain = TracedText.of(text)
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
  return isSaid(plain.text) ? plain : TracedText.of('');
}

/** Whether flite makes a sound for a text that is in its characters. */
export function isSaid(text: string): boolean {
  return SAID.test(text);
}

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['€', 'euros'],
  ['£', 'pounds'],
  ['¥', 'yen'],
  ['₹', 'rupees'],
  ['¢', 'cents'],
  ['°', 'degrees'],
  ['×', 'times'],
  ['÷', 'divided by'],
  ['±', 'plus or minus'],
  ['≈', 'about'],
  ['≤', 'at most'],
  ['≥', 'at least'],
  ['§', 'section'],
  ['©', 'copyright'],
  ['®', 'registered'],
  ['™', 'trademark'],
  ['µ', 'micro'],
]);
const REPEATED_SIGN = /([^\p{L}\p{N}\s])\1{3,}/gu;
const SYMBOL = /[€£¥₹¢°×÷±≈≤≥§©®™µ]/g;
const AMOUNT = /([€£¥₹])\s?(\d{1,15}(?:[.,]\d{1,15}){0,5})/g;

/** Letters that have no accent to take off. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['Æ', 'Ae'],
  ['œ', 'oe'],
  ['Œ', 'Oe'],
  ['ø', 'o'],
  ['Ø', 'O'],
  ['ł', 'l'],
  ['Ł', 'L'],
  ['đ', 'd'],
  ['Đ', 'D'],
  ['ð', 'th'],
  ['Ð', 'Th'],
  ['þ', 'th'],
  ['Þ', 'Th'],
  ['ı', 'i'],
  ['ŋ', 'ng'],
  ['ħ', 'h'],
  ['Ħ', 'H'],
]);
const LETTER = /[ßæÆœŒøØłŁđĐðÐþÞıŋħĦ]/g;

/** Signs that hold words together or steer their display; zero-width space is one that parts them. */
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

/** The characters that flite makes a sound for. */
const SAID = /[A-Za-z0-9#$%&*+/=@\\^_|~]/;

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';

/**
 * A whole number that stands alone. flite reads some numbers of a list digit by digit; days of a month and
 * telephone numbers it reads well.
 */
const INTEGER = new RegExp(
  String.raw`(?<=(?:^| )["'(<[{]*)(?<!\+\d[\d ]*)(?!(?<=\b${MONTH}[a-z]*\.? +)\d\d?\b|\d\d? +${MONTH})` +
    String.raw`(-?)(\d{1,3}(?:,\d{3})+|\d+)(?=[^A-Za-z0-9#$%&*+/=@\\^_|~ -]*(?: |$))`,
  'g',
);

/** The words of a whole number, such as `1,234`; those of a year where it may be one. */
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

/** Digits of the longest number that is not read digit by digit; exact as a JavaScript number. */
const LONGEST_CARDINAL = 15;
const YEAR = /^(1[1-9]|20(?!0))(\d\d)$/;

/** @param value at least 0 */
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

/** A stretch of the text that was traced, in UTF-16 units. */
interface Source {
  readonly start: number;
  readonly end: number;
}

/** A text that is rewritten step by step, and still knows where each of its characters came from. */
class TracedText {
  readonly text: string;
  /** Where each UTF-16 unit of `text` came from; together they run forwards. */
  readonly #sources: readonly Source[];

  private constructor(text: string, sources: readonly Source[]) {
    this.text = text;
    this.#sources = sources;
  }

  /** A text that is its own source. */
  static of(text: string): TracedText {
    return new TracedText(
      text,
      Array.from({ length: text.length }, (_, at) => ({ start: at, end: at + 1 })),
    );
  }

  /**
   * As that of strings: what is put in comes from all of what it stands for.
   * @param pattern global
   * @param replacement called with the match and its groups
   */
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

  /** What a stretch of the text came from. */
  source(start: number, end: number): Source {
    return {
      start: this.#sources[start]?.start ?? 0,
      end: this.#sources[end - 1]?.end ?? 0,
    };
  }
}

/** A word of a text as it is written, and what flite is given for it. */
export interface WrittenWord extends Source {
  /** What stands between spaces in the text for flite: `5` and `degrees` for `5°`. */
  readonly tokens: readonly string[];
}

/**
 * The words of a text that flite may say something for, in order, without the silent signs around
 * them. What flite is given in several parts is one word where it is written as one.
 * @param written the text as it was before it was made speakable
 */
function writtenWords(speakable: TracedText, written: string): WrittenWord[] {
  const words: WrittenWord[] = [];
  for (const { 0: token, index } of speakable.text.matchAll(/[^ ]+/g)) {
    const source = withoutSigns(speakable.source(index, index + token.length), written);
    if (source === undefined) continue;
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

function withoutSigns({ start, end }: Source, written: string): Source | undefined {
  const { at, word } = withoutSilentSigns(written.slice(start, end));
  return word === '' ? undefined : { start: start + at, end: start + at + word.length };
}

/** A part of a text that flite is given at once; where it is in code points of the text. */
export interface SpeakablePiece extends TextSpan {
  /** As it is written. */
  readonly written: string;
  /** As flite is given it; never empty. */
  readonly text: string;
  /** The words of `written`. */
  words(): readonly WrittenWord[];
}

/** The sentences of a text, and clauses of long ones, of which flite can say something. */
export function* speakablePieces(text: string): Generator<SpeakablePiece, undefined> {
  let start = 0;
  for (const { text: written } of splitClauses(text, LONGEST_STRETCH)) {
    const speakable = traceSpeakable(written);
    const end = start + countCodePoints(written);
    const words = (): readonly WrittenWord[] => writtenWords(speakable, written);
    if (speakable.text !== '') yield { written, text: speakable.text, start, end, words };
    start = end;
  }
}
