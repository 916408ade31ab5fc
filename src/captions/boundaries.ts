import { splitSentences } from '../text/sentences.ts';
import { clingInUnspaced } from './unspaced-breaks.ts';
import { isOpening } from './opening.ts';
import { isPicture, speakableLength } from './speakable.ts';
import { isUnspaced } from './unspaced.ts';
import type { TimedToken } from './time-tokens.ts';
import {
  ABBREVIATIONS,
  BEFORE_ORDINALS,
  CLAUSE_WORDS,
  LEADING_WORDS,
  LINKING_WORDS,
  NUMBERED,
  TITLES,
} from './word-lists.ts';
import { goesOnAfterQuote } from './quotes.ts';

/** What is between two tokens, from the weakest to the strongest. */
export type BoundaryKind = 'word' | 'clause' | 'strong clause' | 'sentence' | 'line';

export interface Boundary {
  readonly kind: BoundaryKind;
  /** How much what is before it belongs to what follows: 0 not at all, 100 very much. */
  readonly cling: number;
  /** Silence there, in milliseconds. */
  readonly pauseMs: number;
}

/** What comes after each token; after the last one it is the end of the text. */
export function boundariesOf(text: string, tokens: readonly TimedToken[]): Boundary[] {
  const sentenceEnds = new Set(splitSentences(text).map(({ end }) => end));
  const isJapanese = /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
  let lineWidth = 0;
  let isEnding = false;
  return tokens.map((token, index) => {
    lineWidth = (token.lineBreaks > 0 ? 0 : lineWidth) + token.gap.length + token.width;
    const next = tokens[index + 1];
    if (next === undefined) return { kind: 'line', cling: 0, pauseMs: 0 };
    const before = tokens[index - 1];
    const place = { before, token, next, pauseMs: Math.max(0, next.startMs - token.endMs) };
    if (isEnding) isEnding = !LOWER_CASE.test(next.text);
    if (sentenceEnds.has(next.start)) isEnding = !goesOn(place, text);
    // What closes or follows a sentence behind a space is still of it.
    const endsSentence = isEnding && !closes(next);
    if (endsSentence) isEnding = false;
    const kind = kindOf(place, endsSentence, lineWidth);
    return { kind, cling: clingOf(place, kind, isJapanese), pauseMs: place.pauseMs };
  });
}

const CLOSING = /^[\p{Pe}\p{Pf}]+$/u;
const LOWER_CASE = /^\p{Ll}/u;

function closes({ lineBreaks, text }: TimedToken): boolean {
  if (lineBreaks > 0) return false;
  return CLOSING.test(text) || (isPicture(text) && speakableLength(text) === 0);
}

interface Place {
  readonly before: TimedToken | undefined;
  readonly token: TimedToken;
  readonly next: TimedToken;
  readonly pauseMs: number;
}

/** A line at least this wide was broken by its width, a shorter one by its author. */
const WRAPPED_LINE_WIDTH = 50;
/** Nobody ends a sentence without one. */
const SENTENCE_PAUSE_MS = 200;
/** The day of "3. Mai": a number with a stop is an ordinal in many languages. */
const ORDINAL = /^\d{1,3}\.$/;

/** How much of what follows tells who said what was quoted. */
const LOOK_AHEAD = 16;

const STRONG_CLAUSE = /[;:；：…—―–؛][\p{Pe}\p{Pf}"'*_]*$|^-+$/u;
const CLAUSE = /[,，、､،][\p{Pe}\p{Pf}"'*_]*$|[)）\]］]$|[!?！？。…][\p{Pe}\p{Pf}"']+$/u;

/** Whether what looks like the end of a sentence is none. */
function goesOn({ before, token, next, pauseMs }: Place, text: string): boolean {
  if (next.lineBreaks > 0) return false;
  const word = wordOf(token);
  if (ABBREVIATIONS.has(word)) return true;
  if (NUMBERED.has(word) && /^\d/.test(next.text)) return true;
  if (goesOnAfterQuote(token.text, text.slice(next.start, next.start + LOOK_AHEAD))) return true;
  if (ORDINAL.test(word) && before !== undefined && BEFORE_ORDINALS.has(wordOf(before)))
    return true;
  return pauseMs < SENTENCE_PAUSE_MS && (ORDINAL.test(word) || TITLES.has(word));
}

function kindOf({ token, next }: Place, endsSentence: boolean, lineWidth: number): BoundaryKind {
  if (next.lineBreaks > 1) return 'line';
  if (next.lineBreaks === 1 && (endsSentence || lineWidth < WRAPPED_LINE_WIDTH)) return 'line';
  if (endsSentence) return 'sentence';
  if (STRONG_CLAUSE.test(token.text)) return 'strong clause';
  if (CLAUSE.test(token.text)) return 'clause';
  return next.gap !== '' && isUnspaced(token.text) && isUnspaced(next.text) ? 'clause' : 'word';
}

/** Only signs: a dash or a closing quote between spaces. */
const SIGNS = /^[\p{P}\p{S}\p{Cf}\p{M}]+$/u;
const CAPITAL = /^\p{Lu}/u;
/** A number that something is counted by; a year is none. */
const NUMBER = /^(?!(?:1\d|20)\d\d$).*\p{N}$/u;

function clingOf({ token, next }: Place, kind: BoundaryKind, isJapanese: boolean): number {
  if (next.lineBreaks === 0 && SIGNS.test(next.text) && !isOpening(next.text)) {
    return speakableLength(next.text) === 0 ? 100 : 30;
  }
  if (isOpening(token.text)) return 100;
  if (kind !== 'word') return 0;
  if (next.gap === '') return clingInUnspaced(token.text, next.text, isJapanese);
  const word = wordOf(token);
  if (TITLES.has(word) || ABBREVIATIONS.has(word) || ORDINAL.test(word)) return 90;
  if (LEADING_WORDS.has(word)) return 70;
  if (CLAUSE_WORDS.has(word)) return 60;
  if (NUMBER.test(word)) return 65;
  if (LINKING_WORDS.has(word)) return 40;
  const following = wordOf(next);
  if (CLAUSE_WORDS.has(following)) return 0;
  if (LEADING_WORDS.has(following)) return 10;
  if (CAPITAL.test(token.text) && /^\d/.test(following)) return 65;
  return CAPITAL.test(token.text) && CAPITAL.test(next.text) ? 35 : 20;
}

function wordOf({ text }: TimedToken): string {
  return text.replace(/^[\p{Ps}\p{Pi}"'¿¡]+/u, '').toLowerCase();
}
