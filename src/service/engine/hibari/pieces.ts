import { countCodePoints, withoutSilentSigns } from '../../../text/code-points.ts';
import type { Region } from '../../../text/reading/english.ts';
import { readingRegion } from '../../../text/reading/english.ts';
import { isUnreadSign } from '../../../text/reading/signs.ts';
import { endsParagraph, splitClauses } from '../../../text/sentences.ts';
import { readPronounced } from '../pronounced-words.ts';
import type { PronouncedSpan, TextSpan } from '../speech-engine.ts';
import { LONGEST_PIECE } from '../speech-engine.ts';
import type { SourceRange } from '../traced-text.ts';
import { TracedText } from '../traced-text.ts';
import { COUNTED_LETTER, unspokenIn } from '../unspoken-text.ts';

/** The rules by which the cast reads numbers, dates and abbreviations: all its voices are American. */
export const REGION = readingRegion('en-US');

/** A sentence or clause, with its position in the text, counted in code points. */
export interface TracedPiece extends TextSpan {
  /** The piece as it is written. */
  readonly written: string;
  /** Plain words and marks. */
  readonly text: string;
  /** Positions in `text`, in UTF-16 units, of letters that are read by their names, such as the `A` of `API`. */
  readonly spelled: readonly number[];
  /** Words with given phonemes, as ranges in `text` in UTF-16 units. */
  readonly pronounced: readonly PronouncedSpan[];
  /** Milliseconds of silence after the piece. */
  readonly pauseMs: number;
  /** Returns the words of the piece, with their ranges in `text` and in `written`. */
  words(): readonly WrittenWord[];
}

export interface WrittenWord {
  readonly spoken: SourceRange;
  readonly written: SourceRange;
}

const PAUSE_MS = { clause: 160, sentence: 360, paragraph: 700 };

/**
 * Splits a text into sentences, and long sentences into clauses. Leaves out those without a letter or digit.
 * @param region regional rules for reading English; if undefined, numbers and abbreviations stay as they are
 * @param given words with given phonemes
 */
export function* textPieces(
  text: string,
  region?: Region,
  given: readonly PronouncedSpan[] = [],
): Generator<TracedPiece, undefined> {
  let start = 0;
  for (const { text: written } of splitClauses(text, LONGEST_PIECE)) {
    const { pronounced, traced } = readPronounced({ text: written, start }, given, (plain) =>
      rewrite(plain, region),
    );
    const end = start + countCodePoints(written);
    if (IS_SAID.test(traced.text)) {
      yield {
        start,
        end,
        written,
        text: traced.text,
        spelled: spelledLetters(traced, written),
        pronounced,
        pauseMs: pauseAfter(written),
        words: () => writtenWords(traced, written),
      };
    }
    start = end;
  }
}

function pauseAfter(written: string): number {
  if (endsParagraph(written)) return PAUSE_MS.paragraph;
  return ENDS_SENTENCE.test(written) ? PAUSE_MS.sentence : PAUSE_MS.clause;
}

/**
 * Returns the positions of the letters and digits in a text that the voices cannot speak. A position includes the
 * combining marks of its letter.
 * @param region regional rules for reading English; if undefined, numbers and abbreviations stay as they are
 */
export function unspokenLetters(text: string, region?: Region): TextSpan[] {
  let start = 0;
  return splitClauses(text, LONGEST_PIECE).flatMap(({ text: written }) => {
    const first = start;
    start += countCodePoints(written);
    const isMissed = (one: string) => isForeign(one) || (region !== undefined && isUnreadSign(one));
    if (!written.match(BEYOND_ASCII)?.some(isMissed)) return [];
    const rewriteAll = () => readAloud(new TracedText(written), region);
    return unspokenIn(written, rewriteAll, { first, isForeign, region });
  });
}

function isForeign(character: string): boolean {
  if (!COUNTED_LETTER.test(character) || LETTERS.has(character)) return false;
  return !ASCII_LETTER.test(character.normalize('NFKD'));
}

/** Rewrites a text as words of Latin letters and the marks that the voices know. */
function rewrite(written: TracedText, region: Region | undefined): TracedText {
  return readAloud(written, region)
    .replace(NOT_SPOKEN, () => ' ')
    .replace(SPACE_BEFORE_MARK, (_match, mark = '') => mark)
    .replace(LONG_WORD, (part = '') => `${part} `)
    .replace(WHITE_SPACE, () => ' ')
    .replace(SPACE_AROUND, () => '');
}

function readAloud(written: TracedText, region: Region | undefined): TracedText {
  const words = region === undefined ? written : written.read(region, nameLetters);
  return words
    .replace(REPEATED_SIGN, (_run, sign = '') => sign)
    .replace(INVISIBLE, () => '')
    .replace(QUOTE, () => "'")
    .replace(DOUBLE_QUOTE, () => '"')
    .replace(DASH, () => ' — ')
    .replace(HYPHEN, () => '-')
    .replace(LETTER, (letter = '') => LETTERS.get(letter) ?? letter)
    .replace(NOT_LATIN, (character = '') => character.normalize('NFKD'))
    .replace(MARK, () => '')
    .replace(FRACTION_SLASH, () => '/');
}

/** `A P Is`, as the reader writes `APIs`, becomes `A P I's`. */
function nameLetters(spoken: string): string {
  return spoken.replaceAll(/(?<![\w'])([A-Z])s(?![\w'])/g, "$1's");
}

function spelledLetters(traced: TracedText, written: string): number[] {
  const letters = Array.from(traced.text.matchAll(/(?<![\w'])[A-Z](?!\w)/g), ({ index }) => index);
  return letters.filter((at) => {
    const { end, start } = traced.source(at, at + 1);
    return written.slice(start, end) !== traced.text[at];
  });
}

function writtenWords(traced: TracedText, written: string): WrittenWord[] {
  const words: WrittenWord[] = [];
  for (const { 0: token, index } of traced.text.matchAll(/[^ ]+/g)) {
    const spoken = { start: index, end: index + token.length };
    const outer = traced.source(spoken.start, spoken.end);
    const { at, word } = withoutSilentSigns(written.slice(outer.start, outer.end));
    if (word === '') continue;
    const start = outer.start + at;
    const source = { start, end: start + word.length };
    const last = words.at(-1);
    if (last !== undefined && source.start <= last.written.end) {
      words[words.length - 1] = {
        spoken: { start: last.spoken.start, end: spoken.end },
        written: {
          start: last.written.start,
          end: Math.max(last.written.end, source.end),
        },
      };
    } else words.push({ spoken, written: source });
  }
  return words;
}

const IS_SAID = /[\p{L}\p{N}]/u;
const ENDS_SENTENCE = /[.!?…]["'”’»)\]]*\s*$/u;

const REPEATED_SIGN = /([^\p{L}\p{N}\s])\1{3,}/gu;
const INVISIBLE = /(?!\u200B)\p{Cf}/gu;
const QUOTE = /[‘’‚‛ʼ′`]/g;
const DOUBLE_QUOTE = /[“”„‟«»″]/g;
const DASH = /\s?(?:[–—―]|--)\s?|\s-\s/g;
const HYPHEN = /[‐‑‒−]/g;
const MARK = /\p{M}/gu;
const NOT_LATIN = /[^ -~À-ÖØ-öø-ÿ—…]/gu;
const NOT_SPOKEN = /[^ -~À-ÖØ-öø-ÿ—…]/gu;
const ASCII_LETTER = /[A-Za-z0-9]/;
const BEYOND_ASCII = /\P{ASCII}/gu;
const FRACTION_SLASH = /\u2044/g;
const SPACE_BEFORE_MARK = / +([,;:!?])/g;
const LONG_WORD = /[^ ]{60}(?=[^ ])/g;
const WHITE_SPACE = /\s+/g;
const SPACE_AROUND = /^ +| +$/g;

const LETTERS = new Map(
  'ß ss|æ ae|Æ Ae|œ oe|Œ Oe|ø o|Ø O|ł l|Ł L|đ d|Đ D|ð th|Ð Th|þ th|Þ Th|ı i|ŋ ng|ħ h|Ħ H'
    .split('|')
    .map((pair) => [pair.charAt(0), pair.slice(2)]),
);
const LETTER = /[ßæÆœŒøØłŁđĐðÐþÞıŋħĦ]/g;
