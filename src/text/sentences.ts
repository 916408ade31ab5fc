import { isAbbreviation } from './abbreviations.ts';

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
  for (const end of sentenceEnds(text)) {
    pieces.push({ text: text.slice(start, end), start, end });
    start = end;
  }
  return pieces;
}

/**
 * Where the first sentence of a text ends that is still being written, as soon as nothing that may follow
 * can change it; undefined until then. Whatever the pieces are in which a text comes, it is cut in the
 * same places. For the end of the text there is {@link splitSentences}.
 */
export function certainSentenceEnd(text: string): number | undefined {
  return sentenceEnds(text, true).next().value ?? undefined;
}

const NOT_SPACE = /[^\s\u0085]/g;
/** Stops of scripts that put no space after them. */
const WIDE_STOP = /[。！？｡]/;
const WORD_END = /[\s\u0085。！？｡]/g;
const STOP = /[\p{Sentence_Terminal}…]/u;
const CLOSER = /[\p{Pe}\p{Pf}\p{Pi}"'*_]/u;
const OPENERS = /^[\p{Ps}\p{Pi}\p{Pf}"'*_¿¡]+/u;
const LOWER_CASE = /^\p{Ll}/u;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;
const LIST_ITEM = /^(?:[-–*•‣]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s)/;
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
  /** What follows the space, `LOOK_AHEAD` units of it. */
  readonly following: string;
  /** Length of the line that the word ends, when the space breaks the line. */
  readonly lineLength: number;
}

/** @param isOpen more may follow: what that could change is not told, nor the end of the text */
function* sentenceEnds(text: string, isOpen = false): Generator<number, void, undefined> {
  let lineStart = 0;
  let firstWord = firstMatch(NOT_SPACE, text, 0);
  let word = firstWord;
  while (word < text.length) {
    const wordEnd = endOfWord(text, word);
    const next = firstMatch(NOT_SPACE, text, wordEnd);
    if (next === text.length) break;
    const gap: Gap = {
      word: text.slice(word, wordEnd),
      isFirstWord: word === firstWord,
      space: text.slice(wordEnd, next),
      following: text.slice(next, next + LOOK_AHEAD),
      lineLength: wordEnd - lineStart,
    };
    if (isOpen && !isSettled(gap)) return;
    if (endsSentence(gap)) {
      yield next;
      firstWord = next;
    }
    if (gap.space.search(LINE_BREAK) >= 0) lineStart = next;
    word = next;
  }
  if (text.length > 0 && !isOpen) yield text.length;
}

/** Whether more text behind it can change nothing: what is looked at is there, or need not be. */
function isSettled({ following, space, word }: Gap): boolean {
  if (following.length === LOOK_AHEAD || /[\s\u0085]/.test(following)) return true;
  const lineBreaks = space.match(LINE_BREAK)?.length ?? 0;
  if (lineBreaks > 1) return true;
  const { isClosed, stops } = takeApart(word);
  if (stops === '') return lineBreaks === 0;
  return /[^.…]/u.test(stops) && !isClosed;
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
  const lineBreaks = gap.space.match(LINE_BREAK)?.length ?? 0;
  if (lineBreaks > 1) return true;
  const { body, stops, isClosed } = takeApart(gap.word);
  const following = gap.following.replace(OPENERS, '');
  if (stops === '') return lineBreaks === 1 && endsLine(gap);
  const goesOnInLowerCase = LOWER_CASE.test(following);
  if (/[^.…]/u.test(stops)) return !(isClosed && goesOnInLowerCase);
  if (goesOnInLowerCase) return false;
  if (stops !== '.') return true;
  if (body === '') return isClosed;
  if (gap.isFirstWord && (LIST_NUMBER.test(body) || LIST_ITEM.test(`${gap.word} `))) return false;
  return !isAbbreviation(body, following);
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
