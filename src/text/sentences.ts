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

/**
 * English words that are written with a full stop of their own. Compared in lower case, without
 * the last stop.
 */

/** Something always follows these: a name, an example, an amount. */
const NEVER_LAST = new Set(
  `adm approx brig capt cf cmdr col cpl dr e.g eq eqn esp gen gov hon i.e lt maj messrs mr mrs ms
  mt mx prof pvt rep resp rev sen sgt supt viz vs`.split(/\s+/),
);

/** A number follows these when they are abbreviations; otherwise they are words like any other. */
const BEFORE_A_NUMBER = new Set(
  `art ch chap fig figs no nos nr op p par pp sec sect vol vols`.split(/\s+/),
);

/** These may stand inside a sentence or end it. */
const MAY_BE_LAST = new Set(
  `al apr assn aug ave blvd bros ca co corp dec dept dist ed eds est etc ext feb fri ft hr hrs hwy inc jan jr jul jun
  lb lbs ltd mar max min misc mon nov oct oz rd sat sep sept sr st sun tel thu thur thurs tue tues univ
  wed yr yrs`.split(/\s+/),
);

/** Words that begin a sentence far more often than they follow an abbreviation within one. */
const SENTENCE_STARTERS = new Set(
  `A After All Also An And Another As At Because Before But By Did Do Does Each Even Every Few First
  For From Had Has Have He Her Here His How However I If In Is It Its It's Last Later Let Many Maybe
  Meanwhile More Most My Next No Nobody Not Nothing Now On Once One Only Or Our Perhaps Please She
  Should Since So Some Sometimes Soon Still Such Thank That That's The Their Then There There's
  These They This Those Though Thus Today Tomorrow Two Under Until Was We Were What When Where
  Whether Which While Who Why Will With Without Would Yes Yesterday Yet You Your`.split(/\s+/),
);

const SINGLE_LETTER = /^\p{L}$/u;
const DOTTED = /^(?:\p{L}{1,3}\.)+\p{L}{1,3}$/u;
const FIRST_WORD = /^\p{Lu}[\p{L}'’]*/u;

/**
 * Whether a full stop after `word` belongs to the word, so that the sentence goes on. In doubt it
 * does: a sentence that is too long is cut again at a clause, one that is cut at a name is heard.
 *
 * @param word what stands before the stop, without opening quotes and brackets
 * @param following the text that follows, without opening quotes and brackets; its beginning will do
 */
export function isAbbreviation(word: string, following: string): boolean {
  const lower = word.toLowerCase();
  if (NEVER_LAST.has(lower)) return true;
  if (BEFORE_A_NUMBER.has(lower)) return /^\d/.test(following);
  return dependsOnNextWord(word) && !startsSentence(following);
}

/** Whether a full stop after `word` may belong to it, whatever follows. */
export function mayBeAbbreviation(word: string): boolean {
  const lower = word.toLowerCase();
  return NEVER_LAST.has(lower) || BEFORE_A_NUMBER.has(lower) || dependsOnNextWord(word);
}

/** Whether the whole of the next word decides it: a single letter, `U.S`, and words such as `etc`. */
export function dependsOnNextWord(word: string): boolean {
  return MAY_BE_LAST.has(word.toLowerCase()) || SINGLE_LETTER.test(word) || DOTTED.test(word);
}

function startsSentence(following: string): boolean {
  const first = FIRST_WORD.exec(following)?.[0];
  if (first === undefined || following[first.length] === '.') return false;
  return SENTENCE_STARTERS.has(first.replace('’', "'"));
}

/**
 * Whether a paragraph ends with this sentence: the white space that belongs to it has a blank line.
 */
export function endsParagraph(sentence: string): boolean {
  const space = sentence.slice(sentence.trimEnd().length);
  return (space.match(LINE_BREAK)?.length ?? 0) > 1;
}

/**
 * Cuts a text into sentences, and sentences longer than `maxLength` UTF-16 units into pieces that
 * are not: after a clause where there is one, else between words, else anywhere but within a
 * character. Nothing is lost or added, no piece is empty, and no tiny one is left at the end.
 *
 * @throws RangeError when `maxLength` is not an integer of at least 2
 */
export function splitClauses(text: string, maxLength: number): TextPiece[] {
  if (!Number.isInteger(maxLength) || maxLength < 2) {
    throw new RangeError(`maxLength must be an integer of at least 2, not ${maxLength}.`);
  }
  return splitSentences(text).flatMap((sentence) => cutSentence(sentence, maxLength));
}

/** Marks after which a pause is natural, strongest first; a comma between digits is no pause. */
const CLAUSE_MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*\s+|\s[-–—]+\s+|—|[；：。！？]/gu,
  /[,)\]][\p{Pf}"']*\s+|[，、]/gu,
  /\s+/g,
] as const;

/** Where a piece may end at the earliest, as a part of the longest: no stutter of tiny pieces. */
const SHORTEST_PART = 0.4;

function cutSentence(sentence: TextPiece, maxLength: number): TextPiece[] {
  const pieces: TextPiece[] = [];
  let start = 0;
  while (start < sentence.text.length) {
    const length = nextLength(sentence.text.slice(start, start + 2 * maxLength), maxLength);
    const end = start + length;
    pieces.push({
      text: sentence.text.slice(start, end),
      start: sentence.start + start,
      end: sentence.start + end,
    });
    start = end;
  }
  return pieces;
}

/** @param rest what is left of the sentence; twice the longest piece of it will do */
function nextLength(rest: string, maxLength: number): number {
  if (rest.length <= maxLength) return rest.length;
  const shortest = Math.max(1, Math.floor(maxLength * SHORTEST_PART));
  const longest = Math.min(maxLength, rest.length - shortest);
  const window = rest.slice(0, maxLength);
  for (const mark of CLAUSE_MARKS) {
    const end = lastEnd(window, mark, shortest, longest);
    if (end !== undefined) return end;
  }
  return lastEnd(window, /\s+/g, 1, maxLength) ?? withoutHalfCharacter(rest, maxLength);
}

/** The end of the last match that ends within the bounds. */
function lastEnd(
  text: string,
  pattern: RegExp,
  shortest: number,
  longest: number,
): number | undefined {
  let last: number | undefined;
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end > longest) break;
    if (end >= shortest) last = end;
  }
  return last;
}

function withoutHalfCharacter(text: string, length: number): number {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(length - 1, length + 1))
    ? length - 1
    : length;
}
