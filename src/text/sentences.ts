import { dependsOnNextWord, isAbbreviation, mayBeAbbreviation } from './abbreviations.ts';

/** A stretch of a text. */
export interface TextPiece {
  readonly text: string;
  /** Where it begins and ends in the whole, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts a text into sentences. Nothing is lost or added: the pieces joined are the text, white space
 * goes with the sentence before it, and no piece is empty. Takes time linear in the text, whatever
 * the text is.
 *
 * `Intl.Segmenter` is not used: making one takes a tenth of the whole start-up, its breaks at
 * abbreviations and at wrapped lines would have to be mended all the same, and they differ from
 * one release of Node to the next. The Unicode property of sentence-ending signs is.
 */
export function splitSentences(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let start = 0;
  for (const { ends, next } of gapsOf(text)) {
    if (!ends || next === text.length) continue;
    pieces.push({ text: text.slice(start, next), start, end: next });
    start = next;
  }
  if (start < text.length) pieces.push({ text: text.slice(start), start, end: text.length });
  return pieces;
}

/** The first sentence of a text; places are in UTF-16 units. */
export interface FirstSentence {
  /** Where the next one begins; undefined when the sentence may go on behind the text. */
  readonly end: number | undefined;
  /** The end of the last word that is certainly in the sentence. */
  readonly reach: number;
}

/**
 * Finds the first sentence of a text. While the text is being written (`isOpen`) it ends only where nothing
 * that may follow can change that, so that a text is cut in the same places whatever the pieces are in which
 * it comes. Reads no further once the sentence is longer than `limit`.
 */
export function firstSentence(
  text: string,
  { isOpen, limit }: { readonly isOpen: boolean; readonly limit: number },
): FirstSentence {
  let reach = 0;
  for (const gap of gapsOf(text)) {
    reach = gap.wordEnd;
    if (reach > limit || (isOpen && !isSettled(gap))) break;
    if (gap.ends) return { end: gap.next, reach };
  }
  return { end: undefined, reach };
}

/**
 * Returns whether a text that stops coming here has ended with a whole sentence, as far as that can be
 * known: false for `Dr.`, `3.`, an initial, an ellipsis, and a closing quote, behind which a sentence may
 * go on.
 */
export function endsClearly(text: string): boolean {
  const words = text.trimEnd().split(/\s+/);
  const hasSpace = text !== text.trimEnd();
  const { body, isClosed, stops } = takeApart(words.at(-1) ?? '');
  if (stops === '' || isClosed || (!hasSpace && isInQuotes(text))) return false;
  if (/[^.…]/u.test(stops)) return true;
  if (stops !== '.' || body === '' || isListNumber(body, words.length === 1)) return false;
  const mayGoOn = !hasSpace && /[\d.]/.test(body);
  return !mayGoOn && !mayBeAbbreviation(body);
}

/** Whether a text ends within quotes or brackets: the closing sign may follow. */
function isInQuotes(text: string): boolean {
  const opened = Array.from(text.matchAll(OPENED)).at(-1);
  return opened !== undefined && !CLOSED.test(text.slice(opened.index + opened[0].length));
}

const NOT_SPACE = /[^\s\u0085]/g;
/** Stops of scripts that put no space after them. */
const WIDE_STOP = /[。！？｡]/;
const WORD_END = /[\s\u0085。！？｡]/g;
const STOP = /[\p{Sentence_Terminal}…]/u;
const CLOSER = /[\p{Pe}\p{Pf}\p{Pi}"'*_]/u;
const OPENERS = /^[\p{Ps}\p{Pi}\p{Pf}"'*_¿¡]+/u;
const OPENED = /(?<=^|\s)[\p{Ps}\p{Pi}"'*_]/gu;
const CLOSED = /\S[\p{Pe}\p{Pf}"'*_](?!\p{L})/u;
const LOWER_CASE = /^\p{Ll}/u;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;
const LIST_ITEM = /^(?:[-–*•‣]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s)/;
/** What may become a {@link LIST_ITEM}. */
const LIST_BEGINNING = /^[-–*•‣(\dA-Za-z]\S{0,4}$/;
const LIST_NUMBER = /^\d{1,3}$/;

/** How far the beginning of what follows is looked at: longer than any word that matters. */
const LOOK_AHEAD = 24;

/** A line at least this long that does not end in a stop was broken by its width, not by its end. */
const WRAPPED_LINE_LENGTH = 50;

/** A word and the white space after it: the only place where a sentence can end. */
interface Gap {
  readonly word: string;
  readonly isFirstWord: boolean;
  readonly space: string;
  /** What follows the space, `LOOK_AHEAD` units of it; nothing at the end of the text. */
  readonly following: string;
  /** Length of the line that the word ends, when the space breaks the line. */
  readonly lineLength: number;
}

interface PlacedGap extends Gap {
  readonly wordEnd: number;
  /** Where the following word begins. */
  readonly next: number;
  /** The sentence ends here, when nothing more is written. */
  readonly ends: boolean;
}

function* gapsOf(text: string): Generator<PlacedGap, void, undefined> {
  let lineStart = 0;
  let isFirstWord = true;
  let word = firstMatch(NOT_SPACE, text, 0);
  while (word < text.length) {
    const wordEnd = endOfWord(text, word);
    const next = firstMatch(NOT_SPACE, text, wordEnd);
    const gap: Gap = {
      word: text.slice(word, wordEnd),
      isFirstWord,
      space: text.slice(wordEnd, next),
      following: text.slice(next, next + LOOK_AHEAD),
      lineLength: wordEnd - lineStart,
    };
    isFirstWord = endsSentence(gap);
    yield { ...gap, wordEnd, next, ends: isFirstWord };
    if (gap.space.search(LINE_BREAK) >= 0) lineStart = next;
    word = next;
  }
}

/** Whether more text behind it can change nothing: what is looked at is there, or need not be. */
function isSettled({ following, isFirstWord, space, word }: Gap): boolean {
  const lineBreaks = countLineBreaks(space);
  if (lineBreaks > 1) return true;
  const { body, isClosed, stops } = takeApart(word);
  const isItem = isListNumber(body, isFirstWord);
  if (lineBreaks === 1 && endsWithLine(body, stops, isClosed || isItem)) return true;
  if (/[^.…]/u.test(stops) && !isClosed && space !== '') return true;
  const rest = following.replace(OPENERS, '');
  // Half of a character may be the first of a lower-case letter.
  if (/^[\uD800-\uDBFF]?$/.test(rest)) return following.length === LOOK_AHEAD;
  if (stops === '') return lineBreaks === 0 || !LIST_BEGINNING.test(following);
  if (stops !== '.' || isItem || !dependsOnNextWord(body)) return true;
  return following.length === LOOK_AHEAD || !/^\p{Lu}[\p{L}'’]*$/u.test(rest);
}

function firstMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

function endOfWord(text: string, from: number): number {
  let end = firstMatch(WORD_END, text, from);
  if (!WIDE_STOP.test(text.charAt(end))) return end;
  while (end < text.length && (STOP.test(text.charAt(end)) || CLOSER.test(text.charAt(end)))) {
    end += 1;
  }
  return end;
}

function endsSentence(gap: Gap): boolean {
  const lineBreaks = countLineBreaks(gap.space);
  if (lineBreaks > 1) return true;
  const { body, stops, isClosed } = takeApart(gap.word);
  const isItem = isListNumber(body, gap.isFirstWord);
  if (lineBreaks === 1 && endsWithLine(body, stops, isClosed || isItem)) return true;
  const following = gap.following.replace(OPENERS, '');
  if (stops === '') return lineBreaks === 1 && endsLine(gap);
  const goesOnInLowerCase = LOWER_CASE.test(following);
  if (/[^.…]/u.test(stops)) return !(isClosed && goesOnInLowerCase);
  if (goesOnInLowerCase) return false;
  if (stops !== '.') return true;
  if (body === '') return isClosed;
  if (isItem) return false;
  return !isAbbreviation(body, following);
}

function countLineBreaks(space: string): number {
  return space.match(LINE_BREAK)?.length ?? 0;
}

/** A full stop at the end of a line is the end of a sentence, unless it belongs to the word. */
function endsWithLine(body: string, stops: string, isDoubtful: boolean): boolean {
  return stops === '.' && body !== '' && !isDoubtful && !mayBeAbbreviation(body);
}

/** `1.`, `(2.` and `a.` at the beginning are no sentences: their items follow. */
function isListNumber(body: string, isFirstWord: boolean): boolean {
  return isFirstWord && (LIST_NUMBER.test(body) || LIST_ITEM.test(`${body}. `));
}

/** `(“Stop!”)` is the body `Stop`, the stops `!` and, because of what comes after them, closed. */
function takeApart(word: string): { body: string; stops: string; isClosed: boolean } {
  let closers = word.length;
  while (closers > 0 && CLOSER.test(word.charAt(closers - 1))) closers -= 1;
  let stops = closers;
  while (stops > 0 && STOP.test(word.charAt(stops - 1))) stops -= 1;
  return {
    body: word.slice(0, stops).replace(OPENERS, ''),
    stops: word.slice(stops, closers),
    isClosed: closers < word.length,
  };
}

/** Whether a line without a stop (a heading, a list item, a verse) is a sentence of its own. */
function endsLine(gap: Gap): boolean {
  if (LIST_ITEM.test(gap.following)) return true;
  if (LOWER_CASE.test(gap.following) || /[,\p{Pd}]$/u.test(gap.word)) return false;
  return gap.lineLength < WRAPPED_LINE_LENGTH;
}
