import stringWidth from 'string-width';

/**
 * A word with the punctuation marks attached to it, which is never split over lines. Together, the tokens of a text
 * contain all its characters except white space.
 */
export interface CaptionToken {
  readonly text: string;
  /** Start and end of the token in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The space between the previous token and this token, which is shown only if they are on the same line. */
  readonly gap: '' | ' ' | '\u3000';
  /** Number of line breaks before the token. With two or more, the token begins a paragraph. */
  readonly lineBreaks: number;
  /** Width in columns. Full-width characters count as two, combining marks as none. */
  readonly width: number;
}

/**
 * Splits a text into tokens at white space, control characters and invisible signs, but not at no-break spaces. Text
 * in scripts without spaces is split into words by `Intl.Segmenter`.
 */
export function tokenize(text: string): CaptionToken[] {
  const tokens: CaptionToken[] = [];
  let from = 0;
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) {
    // Quotes, dashes and dots take two columns in text of full-width characters.
    const ambiguousIsNarrow = !isUnspaced(chunk);
    let at = index;
    for (const whole of splitChunk(chunk)) {
      const piece = whole.trim();
      const start = at + whole.indexOf(piece);
      at += whole.length;
      if (INVISIBLE.test(piece)) continue;
      const gap = tokens.length === 0 ? '' : text.slice(from, start);
      from = start + piece.length;
      tokens.push({
        text: piece,
        start,
        end: from,
        gap: joiner(gap),
        lineBreaks: gap.match(LINE_BREAK)?.length ?? 0,
        // SubRip has to write `-->` as `-- >`.
        width: widthOf(piece.replaceAll('-->', '-- >'), ambiguousIsNarrow),
      });
    }
  }
  return tokens;
}

function widthOf(text: string, ambiguousIsNarrow: boolean): number {
  const pieces = text.match(/[^]{1,500}/gu) ?? [];
  return pieces.reduce((sum, piece) => sum + stringWidth(piece, { ambiguousIsNarrow }), 0);
}

/** Returns the width of a gap between two tokens on one line, in columns. */
export function gapWidth(gap: CaptionToken['gap']): number {
  return gap === '\u3000' ? 2 : gap.length;
}

/** Returns the width of a line of text in columns. */
export function textWidth(text: string): number {
  return tokenize(text).reduce((total, { gap, width }) => total + gapWidth(gap) + width, 0);
}

const CHUNK = /[^\p{Cc}\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+/gu;
const INVISIBLE = /^[\s\p{Cf}]*$/u;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;
// After a dash between two words, and after a zero-width space.
const WITHIN_CHUNK = /(?<=[^\s—][—―])(?=[\p{L}\p{N}\p{Ps}\p{Pi}"'])|(?<=\u200b)(?=.)/u;

function splitChunk(chunk: string): readonly string[] {
  return chunk
    .split(WITHIN_CHUNK)
    .flatMap((part) => (isUnspaced(part) ? splitUnspaced(part) : [part]));
}

function joiner(gap: string): CaptionToken['gap'] {
  if (gap.includes('\u3000')) return '\u3000';
  return /[\s\p{Cc}]/u.test(gap) ? ' ' : '';
}

const SCRIPTS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const UNSPACED = new RegExp(`[${SCRIPTS}]`, 'u');
const WIDE = `[${SCRIPTS}\\u3001-\\u303f\\u30fb\\u30fc\\uff01-\\uff65—―‥…‘’“”]`;
const WIDE_START = new RegExp(`^${WIDE}`, 'u');
const WIDE_END = new RegExp(`${WIDE}$`, 'u');

// For example, closing punctuation, iteration marks and small kana.
const NEVER_FIRST =
  /^[\s\p{Pe}\p{Pf}\p{M}、。，．,.・：；:;！？!?‼⁇⁈⁉‐゠–—―…‥〜～%％‰℃°゛゜ーヽヾゝゞ々〻ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰ-ㇿｧ-ｯｰๆฯ]/u;
// Opening punctuation, and signs that precede a number.
const NEVER_LAST = /[\s\p{Ps}\p{Pi}¿¡#＃$＄￥¥£€№]$/u;

const NUMERAL = '[0-9０-９〇零一二三四五六七八九十百千万萬亿億兆点點.]';
const NUMBER_END = new RegExp(`${NUMERAL}$`, 'u');
const NUMBER_START = new RegExp(`^(?:${NUMERAL}|[年月日时時分秒岁歳])`, 'u');

/** Returns whether a text contains characters of scripts that are written without spaces between words. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

function splitUnspaced(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment, index } of segmentsOf(text)) {
    const following = text.slice(index, index + LOOK_AHEAD);
    const last = pieces.at(-1);
    // Only the end of the last piece is compared, so that the time stays proportional to the length.
    if (last === undefined || mayPart(last.slice(-LOOK_BACK), segment, following)) {
      pieces.push(segment);
    } else {
      pieces[pieces.length - 1] = last + segment;
    }
  }
  return pieces;
}

const LOOK_AHEAD = 6;
const LOOK_BACK = 4;

// The time of `Intl.Segmenter` grows with the square of the length of a text without spaces, so foley splits pieces of
// the text. Each piece ends at a sign if possible, because words on both sides of it do not depend on each other.
function* segmentsOf(
  text: string,
): Generator<{ readonly segment: string; readonly index: number }> {
  let from = 0;
  while (from < text.length) {
    const piece = Array.from(segmenter().segment(text.slice(from, from + PIECE_UNITS)));
    const isLast = from + PIECE_UNITS >= text.length;
    const sure = isLast ? piece.length : safeCount(piece);
    for (const { segment, index } of piece.slice(0, sure)) yield { segment, index: from + index };
    const next = isLast ? undefined : piece[sure];
    from += next?.index ?? PIECE_UNITS;
  }
}

const PIECE_UNITS = 1_024;
// More than the length of a word in the dictionary of the segmenter.
const UNSURE_UNITS = 64;

// Returns the number of segments that do not depend on the text after the piece.
function safeCount(piece: readonly Intl.SegmentData[]): number {
  const sure = piece.findLastIndex(({ index }) => index <= PIECE_UNITS - UNSURE_UNITS);
  const sign = piece.findLastIndex(({ index, isWordLike }) => {
    return isWordLike !== true && index > PIECE_UNITS / 2 && index <= PIECE_UNITS - UNSURE_UNITS;
  });
  // A segment may be as long as the piece, such as a word in Latin letters.
  return Math.max(1, sign === -1 ? sure : sign);
}

let made: Intl.Segmenter | undefined;

function segmenter(): Intl.Segmenter {
  return (made ??= new Intl.Segmenter('ja', { granularity: 'word' }));
}

function mayPart(before: string, after: string, following: string): boolean {
  if (NEVER_LAST.test(before) || NEVER_FIRST.test(after)) return false;
  if (NUMBER_END.test(before) && NUMBER_START.test(after)) return false;
  if (isInflection(before, after, following)) return false;
  // The segmenter also splits between signs and letters of other scripts, where no line may end.
  return WIDE_END.test(before) || WIDE_START.test(after);
}

// Endings of Japanese verbs and adjectives, which `Intl.Segmenter` splits from their stems.
const ENDING =
  /^(?:た|だっ|した|ます|まし|ませ|ん|ない|なく|なかっ|れ|れる|られ|られる|せ|せる|させ|させる|う|よう|たい|たく|ば|て|てい|てき|でし|でしょ)[^\p{L}]*$/u;
const AFTER_TE = /^(?:い|いる|いた|いま|いっ|いき|しま|き|くだ|ください|くださ)[^\p{L}]*$/u;
const STEM = /[\p{Script=Han}\p{Script=Hiragana}]$/u;
// These may follow a word in kanji, but are not endings of that word.
const PARTICLE =
  /^(?:[はがをにへとでものやねよだ]|から|まで|より|か(?![れっけん])|な(?![いくかけ])|しか|ほど|くらい|ぐらい|ばか|けど|けれ|さえ|さん|さま|こそ|こと|たち|じゃ|くん|ちゃん|ごと|ずつ|って|そう|らし|みた|あり|ある|いる|いう|する|し[たてまな]|でき|なり|なる|とき)/u;

// `following` is the rest of the text, beginning with `after`.
function isInflection(before: string, after: string, following: string): boolean {
  if (STEM.test(before) && ENDING.test(after)) return true;
  if (/[てで]い?$/u.test(before)) return AFTER_TE.test(after);
  if (before.endsWith('ない') && after === 'で') return true;
  if (before.endsWith('した') && after === 'い') return true;
  if (before.endsWith('くだ')) return after.startsWith('さい');
  return (
    /\p{Script=Han}$/u.test(before) &&
    /^\p{Script=Hiragana}/u.test(after) &&
    !PARTICLE.test(following)
  );
}

/** Matches signs that are spoken, such as `&`, `%` and `€`. */
const SPOKEN_SIGN = /[\p{Sc}\p{Sm}&%‰@#§°№]/gu;
const LETTER = /\p{L}/gu;
const DIGIT = /\p{N}/gu;
const PICTURE = /[\p{So}\p{Extended_Pictographic}]/u;

// A digit is spoken as a word: its assumed length, in letters.
const DIGIT_LETTERS = 4;
// A sign such as `%` is spoken as a word: its assumed length, in letters.
const SIGN_LETTERS = 5;

/** Estimates how many letters of speech a text becomes when it is read aloud; 0 for text that is not spoken. */
export function speakableLength(text: string): number {
  return (
    count(text, LETTER) +
    DIGIT_LETTERS * count(text, DIGIT) +
    SIGN_LETTERS * count(text, SPOKEN_SIGN)
  );
}

/** Returns whether a text contains an emoji or symbol, whose name an engine may speak. */
export function hasSymbol(text: string): boolean {
  return PICTURE.test(text);
}

/** Returns whether a text begins with a sign that is spoken, such as `$`. */
export function beginsWithSign(text: string): boolean {
  return text.search(SPOKEN_SIGN) === 0;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const OPENING = /^[\p{Ps}\p{Pi}"'¿¡*#>♪♫]+$/u;

/** Returns whether a text consists only of opening punctuation. */
export function isOpening(text: string): boolean {
  return OPENING.test(text);
}

const QUOTED = /[。．！？!?…][”’」』）"']+$/u;
const JAPANESE = /^(?:と|って)/u;
/** Matches the name of a speaker followed by a Chinese verb such as "said" or "asked". */
const CHINESE = /^[\p{Script=Han}·]{0,7}?[说說问問道喊答叫想笑写寫嚷]/u;

/** Returns whether a sentence continues after a Chinese or Japanese quotation, as in 「…？」と尋ねました or “…？”她问道。 */
export function continuesAfterQuote(token: string, following: string): boolean {
  return QUOTED.test(token) && (JAPANESE.test(following) || CHINESE.test(following));
}
