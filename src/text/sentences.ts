/** A part of a text, with its position. */
export interface TextPiece {
  readonly text: string;
  /** Start and end of the part in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * Splits a text into sentences. Each sentence includes the white space after it. The time is proportional to the
 * length. Does not use `Intl.Segmenter`: creating one takes a tenth of the start-up time, it splits at abbreviations
 * and at wrapped lines, and its results differ between versions of Node.
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

/** The end of the first sentence of a text. */
export interface FirstSentence {
  /**
   * UTF-16 index at which the first sentence ends and the next one starts; undefined if `firstSentence` found no end.
   */
  readonly end: number | undefined;
  /** UTF-16 index after the last word that certainly belongs to the first sentence, whatever text follows. */
  readonly reach: number;
}

/**
 * Finds the end of the first sentence of a text. `end` is undefined if the sentence has more than `limit` UTF-16 units.
 * If more text may follow (`isOpen`), `end` is also undefined when that text could continue the sentence.
 */
export function firstSentence(
  text: string,
  { isOpen, limit }: { readonly isOpen: boolean; readonly limit: number },
): FirstSentence {
  let reach = 0;
  for (const { ends, gap, next, wordEnd } of gapsOf(text)) {
    reach = wordEnd;
    if (reach > limit || (isOpen && !isSettled(gap))) break;
    if (ends) return { end: next, reach };
  }
  return { end: undefined, reach };
}

/**
 * Returns true if a text certainly ends with a complete sentence. Returns false after `Dr.`, `3.`,
 * an initial, an ellipsis or a closing quote, because the sentence may continue.
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

function isInQuotes(text: string): boolean {
  const opened = Array.from(text.matchAll(OPENED)).at(-1);
  return opened !== undefined && !CLOSED.test(text.slice(opened.index + opened[0].length));
}

const NOT_SPACE = /[^\s\u0085]/g;
// In these scripts, no space stands between sentences.
const WIDE_STOP = /[。！？｡]/;
const WORD_END = /[\s\u0085。！？｡]/g;
const STOP = /[\p{Sentence_Terminal}…]/u;
const CLOSER = /[\p{Pe}\p{Pf}\p{Pi}"'*_]/u;
const OPENERS = /^[\p{Ps}\p{Pi}\p{Pf}"'*_¿¡]+/u;
const OPENED = /(?<=^|\s)[\p{Ps}\p{Pi}"'*_]/gu;
const CLOSED = /\S[\p{Pe}\p{Pf}"'*_](?!\p{L})/u;
// What goes on after a full stop: `1 in. = 8 mi.`
const LOWER_CASE = /^[\p{Ll}=≈×÷]/u;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;
const LIST_ITEM = /^(?:[-–*•‣]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s)/;
// More text can make this a `LIST_ITEM`.
const LIST_BEGINNING = /^[-–*•‣(\dA-Za-z]\S{0,4}$/;
const LIST_NUMBER = /^\d{1,3}$/;

// Number of UTF-16 units after a gap that determine whether a sentence ends in the gap.
const LOOK_AHEAD = 24;

// A line of at least this length that does not end in a full stop counts as wrapped.
const WRAPPED_LINE_LENGTH = 50;

interface SentenceGap {
  readonly word: string;
  readonly isFirstWord: boolean;
  readonly space: string;
  readonly following: string;
  readonly lineLength: number;
}

interface PlacedGap {
  readonly gap: SentenceGap;
  readonly wordEnd: number;
  readonly next: number;
  readonly ends: boolean;
}

function* gapsOf(text: string): Generator<PlacedGap, void, undefined> {
  let lineStart = 0;
  let isFirstWord = true;
  let word = firstMatch(NOT_SPACE, text, 0);
  while (word < text.length) {
    const wordEnd = endOfWord(text, word);
    const next = firstMatch(NOT_SPACE, text, wordEnd);
    const gap: SentenceGap = {
      word: text.slice(word, wordEnd),
      isFirstWord,
      space: text.slice(wordEnd, next),
      following: text.slice(next, next + LOOK_AHEAD),
      lineLength: wordEnd - lineStart,
    };
    isFirstWord = endsSentence(gap);
    // The gap is not copied: spreading it took most of the time.
    yield { gap, wordEnd, next, ends: isFirstWord };
    if (gap.space.search(LINE_BREAK) >= 0) lineStart = next;
    word = next;
  }
}

function isSettled({ following, isFirstWord, space, word }: SentenceGap): boolean {
  const lineBreaks = countLineBreaks(space);
  if (lineBreaks > 1) return true;
  const { body, isClosed, stops } = takeApart(word);
  const isItem = isListNumber(body, isFirstWord);
  if (lineBreaks === 1 && endsWithLine(body, stops, isClosed || isItem)) return true;
  if (/[^.…]/u.test(stops) && !isClosed && space !== '') return true;
  const rest = following.replace(OPENERS, '');
  // The first half of a surrogate pair may belong to a lower-case letter, so wait for the second half.
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

function endsSentence(gap: SentenceGap): boolean {
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

function endsWithLine(body: string, stops: string, isDoubtful: boolean): boolean {
  return stops === '.' && body !== '' && !isDoubtful && !mayBeAbbreviation(body);
}

function isListNumber(body: string, isFirstWord: boolean): boolean {
  return isFirstWord && (LIST_NUMBER.test(body) || LIST_ITEM.test(`${body}. `));
}

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

function endsLine(gap: SentenceGap): boolean {
  if (LIST_ITEM.test(gap.following)) return true;
  if (LOWER_CASE.test(gap.following) || /[,\p{Pd}]$/u.test(gap.word)) return false;
  return gap.lineLength < WRAPPED_LINE_LENGTH;
}

// Abbreviations that do not end a sentence; in lower case, and without their last full stop.
const NEVER_LAST = new Set(
  `adm approx brig capt cf cmdr col cpl dr drs e.g eq eqn esp gen gov hon i.e lt maj messrs mr mrs ms
  mt mx prof pvt rep resp rev sen sgt supt viz vs`.split(/\s+/),
);

// Abbreviations only if a number follows, such as `no.`.
const BEFORE_A_NUMBER = new Set(
  `acct apt art bk bldg ch chap cl eqns fig figs fn hwy ll no nos nr op p par pp rm rs rt rte sc sec sect ste vol vols wt`.split(
    /\s+/,
  ),
);
// Books of the Bible. In lower case, some are words.
const BOOKS = new Set(
  `Chr Chron Cor Dan Deut Eccl Eccles Eph Ex Exod Ezek Gal Hab Heb Hos Isa Jas Jer Jn Josh Judg Kgs Lam Lev Lk Macc Mal
  Matt Mic Mk Neh Num Obad Pet Phil Philem Prov Ps Pss Rom Sam Thess Tim Tit Zech Zeph`.split(
    /\s+/,
  ),
);

const MAY_BE_LAST = new Set(
  `al apr assn aug ave blvd bros ca co corp dec dept dist ed eds est etc ext feb fri ft hr hrs hwy inc jan jr jul jun
  lb lbs ltd mar max min misc mon nov oct oz rd sat sep sept sr st sun tel thu thur thurs tue tues univ
  wed yr yrs`.split(/\s+/),
);

// Words that usually begin a new sentence when they follow an abbreviation.
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
 * Returns true if the full stop after `word` belongs to an abbreviation and does not end a sentence. If uncertain,
 * returns true: a wrong split is audible, but a sentence that is too long can be split later.
 * @param word the word before the full stop, without opening quotes and brackets
 * @param following the beginning of the text after the full stop, without opening quotes and brackets
 */
export function isAbbreviation(word: string, following: string): boolean {
  const lower = word.toLowerCase();
  if (NEVER_LAST.has(lower)) return true;
  if (BEFORE_A_NUMBER.has(lower) || BOOKS.has(word)) {
    // `art. I` and `no. I` may be the ends of sentences.
    const isRoman =
      /^[IVX]{2,6}\b/.test(following) || (/^[IVX]\b/.test(following) && /^[A-Z]/.test(word));
    return isRoman || /^(?:[\d#]|[A-Z]{1,3}-?\d)/.test(following);
  }
  return dependsOnNextWord(word) && !startsSentence(following);
}

/** Returns true if `word` is an abbreviation in at least some contexts. */
export function mayBeAbbreviation(word: string): boolean {
  const lower = word.toLowerCase();
  return NEVER_LAST.has(lower) || BEFORE_A_NUMBER.has(lower) || dependsOnNextWord(word);
}

/** Returns true if the next word decides whether `word` is an abbreviation. Examples: a single letter, `U.S`, `etc`. */
export function dependsOnNextWord(word: string): boolean {
  return MAY_BE_LAST.has(word.toLowerCase()) || SINGLE_LETTER.test(word) || DOTTED.test(word);
}

function startsSentence(following: string): boolean {
  const first = FIRST_WORD.exec(following)?.[0];
  if (first === undefined || following[first.length] === '.') return false;
  return SENTENCE_STARTERS.has(first.replace('’', "'"));
}

/** Returns true if a sentence ends a paragraph: the white space at its end contains a blank line. */
export function endsParagraph(sentence: string): boolean {
  return countLineBreaks(sentence.slice(sentence.trimEnd().length)) > 1;
}

/**
 * Returns the length of a text without the white space at its end. If this white space ends a paragraph, the length
 * includes the first two line breaks of the white space.
 */
export function lengthToParagraphEnd(text: string): number {
  const { length } = text.trimEnd();
  const [, second] = text.slice(length).matchAll(LINE_BREAK);
  return second === undefined ? length : length + second.index + second[0].length;
}

/**
 * Splits a text into sentences. Also splits each sentence of more than `maxLength` UTF-16 units: after a clause if
 * possible, otherwise between words or code points. Keeps every character. Avoids very short pieces at the end of a
 * sentence.
 * @throws RangeError if `maxLength` is not an integer of at least 2
 */
export function splitClauses(text: string, maxLength: number): TextPiece[] {
  if (!Number.isInteger(maxLength) || maxLength < 2) {
    throw new RangeError(`maxLength must be an integer of at least 2, not ${maxLength}.`);
  }
  return splitSentences(text).flatMap((sentence) => cutSentence(sentence, maxLength));
}

// Punctuation at which a speaker pauses, strongest first. A comma between two digits does not match.
const CLAUSE_MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*\s+|\s[-–—]+\s+|—|[；：。！？]/gu,
  /[,)\]][\p{Pf}"']*\s+|[，、]/gu,
  /\s+/g,
] as const;

// As a share of `maxLength`.
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

/**
 * Returns the end of the last match of `pattern` that ends between the indexes `shortest` and `longest`, both
 * inclusive. Returns undefined if there is none.
 */
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
