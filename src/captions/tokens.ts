import stringWidth from 'string-width';

/**
 * A piece of a text that is never cut: a word with the signs that cling to it. Together the
 * tokens are the text without its white space.
 */
export interface Token {
  readonly text: string;
  /** Where it begins and ends in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** What stands before it on a line: nothing, a space, or a full-width space. */
  readonly gap: '' | ' ' | '\u3000';
  /** The white space before it breaks the line: 1, or the paragraph: 2 and more. */
  readonly lineBreaks: number;
  /** Columns that it takes: full-width characters two, combining marks none. */
  readonly width: number;
}

/**
 * The tokens of a text. White space, control characters and invisible signs that stand alone are
 * between them; spaces that forbid a break are within them. Scripts without spaces between
 * words are cut by the dictionary of `Intl.Segmenter`.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let from = 0;
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) {
    // Quotes, dashes and dots are as wide as the characters around them.
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
        width: stringWidth(piece, { ambiguousIsNarrow }),
      });
    }
  }
  return tokens;
}

/** All but white space that allows a break: the no-break, figure and narrow no-break spaces stay. */
const CHUNK = /[^\p{Cc}\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+/gu;
const INVISIBLE = /^[\s\p{Cf}]*$/u;
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;
/** After a dash between two words without spaces, and at a place that is marked for a break. */
const WITHIN_CHUNK = /(?<=[^\s—][—―])(?=[\p{L}\p{N}\p{Ps}\p{Pi}"'])|(?<=\u200b)(?=.)/u;

function splitChunk(chunk: string): readonly string[] {
  return chunk
    .split(WITHIN_CHUNK)
    .flatMap((part) => (isUnspaced(part) ? splitUnspaced(part) : [part]));
}

function joiner(gap: string): Token['gap'] {
  if (gap.includes('\u3000')) return '\u3000';
  return /[\s\p{Cc}]/u.test(gap) ? ' ' : '';
}

/**
 * Scripts that put no spaces between words. A dictionary finds the words; which signs may not begin
 * or end a line is from the W3C's requirements for Japanese and Chinese text layout.
 */

const SCRIPTS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const UNSPACED = new RegExp(`[${SCRIPTS}]`, 'u');
/** With their signs, which stand between words like letters. */
const WIDE = `[${SCRIPTS}\\u3001-\\u303f\\u30fb\\u30fc\\uff01-\\uff65—―‥…‘’“”]`;
const WIDE_START = new RegExp(`^${WIDE}`, 'u');
const WIDE_END = new RegExp(`${WIDE}$`, 'u');

/** Never at the beginning of a line: what closes, ends, repeats, lengthens or is written small. */
const NEVER_FIRST =
  /^[\s\p{Pe}\p{Pf}\p{M}、。，．,.・：；:;！？!?‼⁇⁈⁉‐゠–—―…‥〜～%％‰℃°゛゜ーヽヾゝゞ々〻ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰ-ㇿｧ-ｯｰๆฯ]/u;
/** Never at the end of a line: what opens, and signs before a number. */
const NEVER_LAST = /[\s\p{Ps}\p{Pi}¿¡#＃$＄￥¥£€№]$/u;

/** A number and its date or time are one word, however the dictionary cuts it. */
const NUMERAL = '[0-9０-９〇零一二三四五六七八九十百千万萬亿億兆点點.]';
const NUMBER_END = new RegExp(`${NUMERAL}$`, 'u');
const NUMBER_START = new RegExp(`^(?:${NUMERAL}|[年月日时時分秒岁歳])`, 'u');

/** Whether a text has characters of these scripts. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/**
 * Cuts a text without white space, of which some is of these scripts, into words with the signs
 * that cling to them. The pieces joined are the text.
 */
function splitUnspaced(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment, index } of segmenter().segment(text)) {
    const following = text.slice(index, index + LOOK_AHEAD);
    const last = pieces.at(-1);
    // Only its end, so that a piece may grow without end.
    if (last === undefined || mayPart(last.slice(-LOOK_BACK), segment, following)) {
      pieces.push(segment);
    } else {
      pieces[pieces.length - 1] = last + segment;
    }
  }
  return pieces;
}

/** How much of what follows shows whether a word goes on. */
const LOOK_AHEAD = 6;
/** How much of what is before does. */
const LOOK_BACK = 4;

let made: Intl.Segmenter | undefined;

/** Made when it is needed, since making one takes longer than all else here. */
function segmenter(): Intl.Segmenter {
  return (made ??= new Intl.Segmenter('ja', { granularity: 'word' }));
}

function mayPart(before: string, after: string, following: string): boolean {
  if (NEVER_LAST.test(before) || NEVER_FIRST.test(after)) return false;
  if (NUMBER_END.test(before) && NUMBER_START.test(after)) return false;
  if (isInflection(before, after, following)) return false;
  // Between signs and letters of other scripts the dictionary cuts where no line may end.
  return WIDE_END.test(before) || WIDE_START.test(after);
}

/** Endings of Japanese verbs and adjectives, which the dictionary cuts from their stems. */
const ENDING =
  /^(?:た|だっ|した|ます|まし|ませ|ん|ない|なく|なかっ|れ|れる|られ|られる|せ|せる|させ|させる|う|よう|たい|たく|ば|て|てい|てき|でし|でしょ)[^\p{L}]*$/u;
const AFTER_TE = /^(?:い|いる|いた|いま|いっ|いき|しま|き|くだ|ください|くださ)[^\p{L}]*$/u;
const STEM = /[\p{Script=Han}\p{Script=Hiragana}]$/u;
/** What follows a word in kanji without being the end of it. */
const PARTICLE =
  /^(?:[はがをにへとでものやねよだ]|から|まで|より|か(?![れっけん])|な(?![いくかけ])|しか|ほど|くらい|ぐらい|ばか|けど|けれ|さえ|さん|さま|こそ|こと|たち|じゃ|くん|ちゃん|ごと|ずつ|って|そう|らし|みた|あり|ある|いる|いう|する|し[たてまな]|でき|なり|なる|とき)/u;

/**
 * Whether a dictionary cut a Japanese word from its ending.
 *
 * @param following the text from `after` on; its beginning will do
 */
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

/** Signs that are read out, such as `&`, `%` and `€`. */
const SPOKEN_SIGN = /[\p{Sc}\p{Sm}&%‰@#§°№]/gu;
const LETTER = /\p{L}/gu;
const DIGIT = /\p{N}/gu;
const PICTURE = /[\p{So}\p{Extended_Pictographic}]/u;

/** How long a digit and a spoken sign are said, in letters. */
const DIGIT_LETTERS = 4;
const SIGN_LETTERS = 5;

/** About how long a text takes to say, in letters; 0 for what is not spoken. */
export function speakableLength(text: string): number {
  return (
    count(text, LETTER) +
    DIGIT_LETTERS * count(text, DIGIT) +
    SIGN_LETTERS * count(text, SPOKEN_SIGN)
  );
}

/** Whether a text without letters may be spoken all the same: an engine may name an emoji. */
export function isPicture(text: string): boolean {
  return PICTURE.test(text);
}

/** Whether a text begins with a sign that is read out. */
export function beginsWithSign(text: string): boolean {
  return text.search(SPOKEN_SIGN) === 0;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const OPENING = /^[\p{Ps}\p{Pi}"'¿¡*#>♪♫]+$/u;

/** Whether a text is nothing but signs that open something, and so belong to what follows. */
export function isOpening(text: string): boolean {
  return OPENING.test(text);
}

/**
 * In Chinese and Japanese a sentence goes on after what is quoted in it, and neither a space nor a
 * small letter shows it: 「…？」と尋ねました, “…？”她问道。
 */

const QUOTED = /[。．！？!?…][”’」』）"']+$/u;
const JAPANESE = /^(?:と|って)/u;
/** Who said it, and that they said it, before anything else. */
const CHINESE = /^[\p{Script=Han}·]{0,7}?[说說问問道喊答叫想笑写寫嚷]/u;

/** Whether a sentence goes on after a token that ends what is quoted; `following` is the text after it. */
export function goesOnAfterQuote(token: string, following: string): boolean {
  return QUOTED.test(token) && (JAPANESE.test(following) || CHINESE.test(following));
}
