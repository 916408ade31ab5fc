/** A part of a text. */
export interface TextPiece {
  readonly text: string;
  /** Range of the part in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * Splits a text into sentences, each with the white space that follows. Takes time linear in the text.
 *
 * Does not use `Intl.Segmenter`: creating one takes a tenth of the start-up, it breaks at abbreviations and wrapped
 * lines, and it differs between releases of Node.
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

/** The range of the first sentence of a text, in UTF-16 units. */
export interface FirstSentence {
  /** Start of the next sentence; undefined if the first sentence may continue after the text. */
  readonly end: number | undefined;
  /** End of the last word that certainly belongs to the sentence. */
  readonly reach: number;
}

/**
 * Finds the first sentence of a text. If more text may follow (`isOpen`), the sentence ends only where more text
 * cannot change its end. Stops if the sentence is longer than `limit`.
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
 * Whether a text certainly ends with a complete sentence. False after `Dr.`, `3.`, an initial, an ellipsis or a
 * closing quote, because the sentence may continue.
 */
export function endsClearly(text: string): boolean {
  const words = text.trimEnd().split(/\s+/);
  const hasSpace = text !== text.trimEnd();
  const { body, isClosed, stops } = takeApart(words.at(-1) ?? '');
  if (stops === '' || isClosed || (!hasSpace && isInQuotes(text))) return false;
  if (/[^.…]/u.test(stops)) return true;
  if (stops !== '.' || body === '' || isListNumber(body, words.length === 1)) return false;
  const mayContinue = !hasSpace && /[\d.]/.test(body);
  return !mayContinue && !mayBeAbbreviation(body);
}

/** Whether a text ends within quotes or brackets. */
function isInQuotes(text: string): boolean {
  const opened = Array.from(text.matchAll(OPENED)).at(-1);
  return opened !== undefined && !CLOSED.test(text.slice(opened.index + opened[0].length));
}

const NOT_SPACE = /[^\s\u0085]/g;
/** Full stops of scripts that write no space after a sentence. */
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
/** The beginning of a {@link LIST_ITEM}. */
const LIST_BEGINNING = /^[-–*•‣(\dA-Za-z]\S{0,4}$/;
const LIST_NUMBER = /^\d{1,3}$/;

/** Number of UTF-16 units after a gap that are considered. */
const LOOK_AHEAD = 24;

/** A line of at least this length without a full stop counts as wrapped. */
const WRAPPED_LINE_LENGTH = 50;

/** A word and the white space after it, where a sentence may end. */
interface Gap {
  readonly word: string;
  readonly isFirstWord: boolean;
  readonly space: string;
  /** The `LOOK_AHEAD` units after the space. */
  readonly following: string;
  /** Length of the line from its start to the end of the word. */
  readonly lineLength: number;
}

interface PlacedGap extends Gap {
  readonly wordEnd: number;
  /** Start of the next word. */
  readonly next: number;
  /** Whether the sentence ends in this gap, unless more text follows. */
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

/** Whether more text cannot change the decision that the sentence ends or continues in a gap. */
function isSettled({ following, isFirstWord, space, word }: Gap): boolean {
  const lineBreaks = countLineBreaks(space);
  if (lineBreaks > 1) return true;
  const { body, isClosed, stops } = takeApart(word);
  const isItem = isListNumber(body, isFirstWord);
  if (lineBreaks === 1 && endsWithLine(body, stops, isClosed || isItem)) return true;
  if (/[^.…]/u.test(stops) && !isClosed && space !== '') return true;
  const rest = following.replace(OPENERS, '');
  // Half of a surrogate pair may begin a lower-case letter.
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

/** Whether a full stop at the end of a line ends a sentence rather than an abbreviation. */
function endsWithLine(body: string, stops: string, isDoubtful: boolean): boolean {
  return stops === '.' && body !== '' && !isDoubtful && !mayBeAbbreviation(body);
}

/** Whether a word is the number of a list item: `1.`, `(2.` or `a.` at the beginning of a sentence. */
function isListNumber(body: string, isFirstWord: boolean): boolean {
  return isFirstWord && (LIST_NUMBER.test(body) || LIST_ITEM.test(`${body}. `));
}

/** Splits a word into body, stops and closing signs: `(“Stop!”)` has the body `Stop` and the stops `!`. */
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

/** Whether a line without a full stop (a heading, a list item, a verse) is a sentence. */
function endsLine(gap: Gap): boolean {
  if (LIST_ITEM.test(gap.following)) return true;
  if (LOWER_CASE.test(gap.following) || /[,\p{Pd}]$/u.test(gap.word)) return false;
  return gap.lineLength < WRAPPED_LINE_LENGTH;
}

/** English abbreviations that never end a sentence; in lower case, without the last full stop. */
const NEVER_LAST = new Set(
  `adm approx brig capt cf cmdr col cpl dr e.g eq eqn esp gen gov hon i.e lt maj messrs mr mrs ms
  mt mx prof pvt rep resp rev sen sgt supt viz vs`.split(/\s+/),
);

/** Words that are abbreviations only before a number. */
const BEFORE_A_NUMBER = new Set(
  `art ch chap fig figs no nos nr op p par pp sec sect vol vols`.split(/\s+/),
);

/** Abbreviations that may end a sentence. */
const MAY_BE_LAST = new Set(
  `al apr assn aug ave blvd bros ca co corp dec dept dist ed eds est etc ext feb fri ft hr hrs hwy inc jan jr jul jun
  lb lbs ltd mar max min misc mon nov oct oz rd sat sep sept sr st sun tel thu thur thurs tue tues univ
  wed yr yrs`.split(/\s+/),
);

/** Words that after an abbreviation usually begin a new sentence. */
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
 * Whether the full stop after `word` belongs to an abbreviation. True in doubt: a wrong split at a name is
 * audible, and a sentence that is too long is split again at a clause.
 * @param word without opening quotes and brackets
 * @param following the beginning of the next text, without opening quotes and brackets
 */
export function isAbbreviation(word: string, following: string): boolean {
  const lower = word.toLowerCase();
  if (NEVER_LAST.has(lower)) return true;
  if (BEFORE_A_NUMBER.has(lower)) return /^\d/.test(following);
  return dependsOnNextWord(word) && !startsSentence(following);
}

/** Whether `word` may be an abbreviation, depending on the next word. */
export function mayBeAbbreviation(word: string): boolean {
  const lower = word.toLowerCase();
  return NEVER_LAST.has(lower) || BEFORE_A_NUMBER.has(lower) || dependsOnNextWord(word);
}

/** Whether the next word decides if `word` is an abbreviation, as after a letter, `U.S` or `etc`. */
export function dependsOnNextWord(word: string): boolean {
  return MAY_BE_LAST.has(word.toLowerCase()) || SINGLE_LETTER.test(word) || DOTTED.test(word);
}

function startsSentence(following: string): boolean {
  const first = FIRST_WORD.exec(following)?.[0];
  if (first === undefined || following[first.length] === '.') return false;
  return SENTENCE_STARTERS.has(first.replace('’', "'"));
}

/** Whether a sentence ends a paragraph, because it ends with a blank line. */
export function endsParagraph(sentence: string): boolean {
  return countLineBreaks(sentence.slice(sentence.trimEnd().length)) > 1;
}

/**
 * Splits a text into sentences, and sentences longer than `maxLength` UTF-16 units after a clause, else between
 * words, else between code points. Keeps every character, and leaves no tiny piece at the end.
 * @throws RangeError if `maxLength` is not an integer of at least 2
 */
export function splitClauses(text: string, maxLength: number): TextPiece[] {
  if (!Number.isInteger(maxLength) || maxLength < 2) {
    throw new RangeError(`maxLength must be an integer of at least 2, not ${maxLength}.`);
  }
  return splitSentences(text).flatMap((sentence) => cutSentence(sentence, maxLength));
}

/** Places for a pause, strongest first; a comma between digits does not match. */
const CLAUSE_MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*\s+|\s[-–—]+\s+|—|[；：。！？]/gu,
  /[,)\]][\p{Pf}"']*\s+|[，、]/gu,
  /\s+/g,
] as const;

/** Minimum length of a piece, as a share of `maxLength`. */
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

/** Returns the length of the next piece. @param rest the next `2 * maxLength` units of the sentence */
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

/** Returns the end of the last match that ends from `shortest` to `longest`. */
export function lastEnd(
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
