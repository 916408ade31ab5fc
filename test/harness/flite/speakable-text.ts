import { withoutSilentSigns, countCodePoints } from '../../../src/text/code-points.ts';
import type { Region } from '../../../src/text/reading/english.ts';
import { endsParagraph, splitClauses } from '../../../src/text/sentences.ts';
import { LONGEST_PIECE, type TextSpan } from '../../../src/service/engine/speech-engine.ts';
import { type SourceRange, TracedText } from '../../../src/service/engine/traced-text.ts';

/**
 * Rewrites a text in plain ASCII for flite. Numbers, abbreviations and signs become words. Letters lose their accents;
 * characters without an ASCII form, such as emoji, become spaces. Shortens repeated signs and splits very long words,
 * because flite needs quadratic time for them. Empty if flite would say nothing.
 */
function traceSpeakable(text: string, region: Region | undefined): TracedText {
  const plain = traceReading(text, region)
    .replace(NOT_ASCII, () => ' ')
    .replace(LETTER_A, () => 'ay')
    .replace(LONE_LETTER, (letter = '') => letter.toLowerCase())
    .replace(SPACE_BEFORE_MARK, (_match, mark = '') => mark)
    .replace(LONG_WORD, (part = '') => `${part} `)
    .replace(WHITE_SPACE, () => ' ')
    .replace(SPACE_AROUND, () => '');
  return isSaid(plain.text) ? plain : new TracedText('');
}

function traceReading(text: string, region: Region | undefined): TracedText {
  const written = new TracedText(text);
  const words = region === undefined ? written : written.read(region, nameLetters);
  return words
    .replace(REPEATED_SIGN, (_run, sign = '') => sign)
    .replace(INVISIBLE, () => '')
    .replace(QUOTE, () => "'")
    .replace(DOUBLE_QUOTE, () => '"')
    .replace(DASH, () => ', ')
    .replace(HYPHEN, () => '-')
    .replace(LETTER, (letter = '') => LETTERS.get(letter) ?? letter)
    .replace(NOT_ASCII, (character = '') => character.normalize('NFKD'))
    .replace(MARK, () => '')
    .replace(FRACTION_SLASH, () => '/');
}

/** Returns true if flite makes a sound for this ASCII text. */
export function isSaid(text: string): boolean {
  return SAID.test(text);
}

function pairs(list: string): ReadonlyMap<string, string> {
  return new Map(list.split('|').map((pair) => [pair.charAt(0), pair.slice(2)]));
}

const REPEATED_SIGN = /([^\p{L}\p{N}\s])\1{3,}/gu;

const LETTERS = pairs(
  'ß ss|æ ae|Æ Ae|œ oe|Œ Oe|ø o|Ø O|ł l|Ł L|đ d|Đ D|ð th|Ð Th|þ th|Þ Th|ı i|ŋ ng|ħ h|Ħ H',
);
const LETTER = /[ßæÆœŒøØłŁđĐðÐþÞıŋħĦ]/g;

const INVISIBLE = /(?!\u200B)\p{Cf}/gu;
const QUOTE = /[‘’‚‛ʼ′`]/g;
const DOUBLE_QUOTE = /[“”„‟«»″]/g;
const DASH = /\s?(?:[–—―]|--)\s?|\s-\s/g;
const HYPHEN = /[‐‑‒−]/g;
const MARK = /\p{M}/gu;
const NOT_ASCII = /[^ -~]/gu;
const FRACTION_SLASH = /\u2044/g;
// flite would say `I` after a noun as the number one, and `V` as five.
const LONE_LETTER = /(?<![\w.'])[B-Z](?![\w'])/g;
const LETTER_A = /(?<=[a-z] )A(?= [a-z]|[.,;:!?]|$)/g;
const SPELLED = /(?<![\w'])([A-Z])(s?)(?![\w'])/g;

function nameLetters(spoken: string): string {
  return spoken.replaceAll(SPELLED, (_match, letter: string, plural: string) => {
    const name = letter === 'A' ? 'ay' : letter.toLowerCase();
    return plural === '' ? name : `${name}'s`;
  });
}

const SPACE_BEFORE_MARK = / +([,;:!?])/g;
const LONG_WORD = /[^ ]{60}(?=[^ ])/g;
const WHITE_SPACE = / +/g;
const SPACE_AROUND = /^ +| +$/g;

const SAID = /[A-Za-z0-9#$%&*+/=@\\^_|~]/;

export interface WrittenWord extends SourceRange {
  readonly tokens: readonly string[];
}

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
  readonly written: string;
  readonly text: string;
  /** True if a blank line separates this piece from the previous piece. */
  readonly beginsParagraph: boolean;
  words(): readonly WrittenWord[];
}

/**
 * Splits a text into sentences, and long sentences into clauses. Leaves out sentences and clauses in which flite would
 * say nothing.
 * @param region regional rules for reading English; if undefined, numbers and abbreviations stay as they are
 */
export function* speakablePieces(
  text: string,
  region?: Region,
): Generator<SpeakablePiece, undefined> {
  let start = 0;
  let beginsParagraph = false;
  for (const { text: written } of splitClauses(text, LONGEST_PIECE)) {
    const speakable = traceSpeakable(written, region);
    const end = start + countCodePoints(written);
    const words = (): readonly WrittenWord[] => writtenWords(speakable, written);
    if (speakable.text !== '') {
      yield { written, text: speakable.text, beginsParagraph, start, end, words };
      beginsParagraph = false;
    }
    beginsParagraph ||= endsParagraph(written);
    start = end;
  }
}
