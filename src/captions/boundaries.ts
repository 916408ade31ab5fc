import { splitSentences } from '../text/sentences.ts';
import { findQuotations } from './quotations.ts';
import type { TimedToken } from './time-tokens.ts';
import {
  isOpening,
  hasSymbol,
  speakableLength,
  isUnspaced,
  continuesAfterQuote,
} from './tokens.ts';

/** The kinds of boundaries between two tokens, weakest first. */
export type BoundaryKind = 'word' | 'clause' | 'strong clause' | 'sentence' | 'line';

export interface Boundary {
  readonly kind: BoundaryKind;
  /**
   * How strongly the tokens before and after the boundary belong together, from 0 to 100. A line or cue preferably ends
   * at a boundary with a low value.
   */
  readonly cling: number;
  /** Length of the silence at the boundary, in milliseconds. */
  readonly pauseMs: number;
}

/** Returns the boundary after each token. The last boundary is the end of the text. */
export function boundariesOf(text: string, tokens: readonly TimedToken[]): Boundary[] {
  const sentenceEnds = new Set(splitSentences(text).map(({ end }) => end));
  const isJapanese = /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
  const quotations = findQuotations(tokens);
  const joined = endsBesideSilentLines(tokens);
  let lineWidth = 0;
  let isEnding = false;
  const boundaries = tokens.map((token, index): Boundary => {
    lineWidth = (token.lineBreaks > 0 ? 0 : lineWidth) + token.gap.length + token.width;
    const next = tokens[index + 1];
    if (next === undefined) return { kind: 'line', cling: 0, pauseMs: 0 };
    const before = tokens[index - 1];
    const place: TokenPair = {
      before,
      token,
      next,
      pauseMs: Math.max(0, next.startMs - token.endMs),
      mark: quotations.marks.get(index),
      nextMark: next.lineBreaks > 0 ? undefined : quotations.marks.get(index + 1),
    };
    if (isEnding) isEnding = !LOWER_CASE.test(next.text);
    if (sentenceEnds.has(next.start)) isEnding = !continuesSentence(place, text);
    // A separate closing sign or emoji still belongs to the sentence before it.
    const endsSentence = isEnding && place.nextMark !== 'closing' && !closes(next);
    if (endsSentence) isEnding = false;
    const kind = joined.has(index) ? 'strong clause' : kindOf(place, endsSentence, lineWidth);
    return { kind, cling: clingOf(place, kind, isJapanese), pauseMs: place.pauseMs };
  });
  for (const quotation of quotations.all) preferOutside(quotation, tokens, boundaries);
  return boundaries;
}

// Returns the last tokens of lines that share a cue with a line without words, such as `* * *`. Such a line has no time
// of its own: it belongs to the words before it, or to the first words of the text.
function endsBesideSilentLines(tokens: readonly TimedToken[]): ReadonlySet<number> {
  const ends = new Set<number>();
  let hasWords = false;
  let from = 0;
  for (const index of tokens.keys()) {
    const next = tokens[index + 1];
    if (next !== undefined && next.lineBreaks === 0) continue;
    const isSilent = tokens.slice(from, index + 1).every(({ text }) => !mayBeSpoken(text));
    if (isSilent && hasWords) ends.add(from - 1);
    if (isSilent && !hasWords) ends.add(index);
    hasWords ||= !isSilent;
    from = index + 1;
  }
  return ends;
}

function mayBeSpoken(text: string): boolean {
  return speakableLength(text) > 0 || hasSymbol(text);
}

// Breaks before and after a quotation are preferred only if it has at least this many tokens.
const QUOTED_TOKENS = 3;
// About a line. Breaks within a quotation of at most this length are avoided.
const UNDIVIDED_TOKENS = 9;
const LED_CLING = 40;
const QUOTED_CLING = 25;

function preferOutside(
  { first, last }: { readonly first: number; readonly last: number },
  tokens: readonly TimedToken[],
  boundaries: Boundary[],
): void {
  const count = last - first + 1;
  if (count < QUOTED_TOKENS) return;
  const change = (index: number, changed: (boundary: Boundary) => Partial<Boundary>): void => {
    const boundary = boundaries[index];
    // Punctuation marks stay with their word.
    if (boundary === undefined || boundary.cling === GLUED) return;
    boundaries[index] = { ...boundary, ...changed(boundary) };
  };
  const before = tokens[first - 1];
  // A preposition or conjunction belongs to the quotation that follows it.
  const isLed = before !== undefined && isLeading(wordOf(before));
  const asClause = ({ cling, kind }: Boundary): Partial<Boundary> =>
    kind === 'word' ? { kind: 'clause', cling: 0 } : { cling };
  change(first - 1, (boundary) => (isLed ? { cling: LED_CLING } : asClause(boundary)));
  if (last < tokens.length - 1) change(last, asClause);
  if (count > UNDIVIDED_TOKENS) return;
  for (let index = first; index < last; index += 1) {
    change(index, ({ cling }) => ({ cling: Math.min(GLUED - 1, cling + QUOTED_CLING) }));
  }
}

const CLOSING = /^[\p{Pe}\p{Pf}]+$/u;
const LOWER_CASE = /^\p{Ll}/u;

function closes({ lineBreaks, text }: TimedToken): boolean {
  if (lineBreaks > 0) return false;
  return CLOSING.test(text) || (hasSymbol(text) && speakableLength(text) === 0);
}

interface TokenPair {
  readonly before: TimedToken | undefined;
  readonly token: TimedToken;
  readonly next: TimedToken;
  readonly pauseMs: number;
  readonly mark: QuotationMark;
  readonly nextMark: QuotationMark;
}

type QuotationMark = 'opening' | 'closing' | undefined;

/** The highest value of `cling`, as between a word and its punctuation mark. Both stay on one line if they fit. */
export const GLUED = 100;

// A line break after a line of at least this width, in columns, counts as wrapping and not as the author's choice.
const WRAPPED_LINE_WIDTH = 50;
// An ordinal number or a title can end a sentence only before a pause of at least this length.
const SENTENCE_PAUSE_MS = 200;
// For example, the day in the German "3. Mai".
const ORDINAL = /^\d{1,3}\.$/;

// Number of characters after a quotation in which foley looks for the name of the speaker.
const LOOK_AHEAD = 16;

const STRONG_CLAUSE = /[;:；：…—―–؛][\p{Pe}\p{Pf}"'*_]*$|^-+$/u;
const CLAUSE = /[,，、､،][\p{Pe}\p{Pf}"'*_]*$|[)）\]］]$|[!?！？。…][\p{Pe}\p{Pf}"']+$/u;

function continuesSentence({ before, token, next, pauseMs }: TokenPair, text: string): boolean {
  if (next.lineBreaks > 0) return false;
  const word = wordOf(token);
  if (ABBREVIATIONS.has(word)) return true;
  if (NUMBERED.has(word) && /^\d/.test(next.text)) return true;
  if (continuesAfterQuote(token.text, text.slice(next.start, next.start + LOOK_AHEAD))) return true;
  if (ORDINAL.test(word) && before !== undefined && BEFORE_ORDINALS.has(wordOf(before)))
    return true;
  return pauseMs < SENTENCE_PAUSE_MS && (ORDINAL.test(word) || TITLES.has(word));
}

function kindOf(
  { token, next }: TokenPair,
  endsSentence: boolean,
  lineWidth: number,
): BoundaryKind {
  if (next.lineBreaks > 1) return 'line';
  if (next.lineBreaks === 1 && (endsSentence || lineWidth < WRAPPED_LINE_WIDTH)) return 'line';
  if (endsSentence) return 'sentence';
  if (STRONG_CLAUSE.test(token.text)) return 'strong clause';
  if (CLAUSE.test(token.text)) return 'clause';
  return next.gap !== '' && isUnspaced(token.text) && isUnspaced(next.text) ? 'clause' : 'word';
}

const SIGNS = /^[\p{P}\p{S}\p{Cf}\p{M}]+$/u;
const CAPITAL = /^\p{Lu}/u;
// Does not match a year.
const NUMBER = /^(?!(?:1\d|20)\d\d$).*\p{N}$/u;

function clingOf(
  { mark, next, nextMark, token }: TokenPair,
  kind: BoundaryKind,
  isJapanese: boolean,
): number {
  if (mark === 'opening' || nextMark === 'closing') return GLUED;
  const isSign = next.lineBreaks === 0 && SIGNS.test(next.text);
  if (isSign && nextMark === undefined && !isOpening(next.text)) {
    return speakableLength(next.text) === 0 ? GLUED : 30;
  }
  if (mark === undefined && isOpening(token.text)) return GLUED;
  if (kind !== 'word') return 0;
  if (next.gap === '') return clingInUnspaced(token.text, next.text, isJapanese);
  const word = wordOf(token);
  if (TITLES.has(word) || ABBREVIATIONS.has(word) || ORDINAL.test(word)) return 90;
  if (isLeading(word)) return LEADING_WORDS.has(word) ? 70 : 60;
  if (NUMBER.test(word)) return 65;
  if (LINKING_WORDS.has(word)) return 40;
  const following = wordOf(next);
  if (CLAUSE_WORDS.has(following)) return 0;
  if (LEADING_WORDS.has(following)) return 10;
  if (CAPITAL.test(token.text) && /^\d/.test(following)) return 65;
  return CAPITAL.test(token.text) && CAPITAL.test(next.text) ? 35 : 20;
}

function isLeading(word: string): boolean {
  return LEADING_WORDS.has(word) || CLAUSE_WORDS.has(word);
}

function wordOf({ text }: TimedToken): string {
  return text.replace(/^[\p{Ps}\p{Pi}"'¿¡]+/u, '').toLowerCase();
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const HIRAGANA = /[\p{Script=Hiragana}ー]/u.source;
const ENDS_IN_HIRAGANA = new RegExp(`${HIRAGANA}$`, 'u');
const BEGINS_IN_HIRAGANA = new RegExp(`^${HIRAGANA}`, 'u');
const DIGITS_ONLY = /[\p{N}一二三四五六七八九十百千万亿億兆两]$/u;

// Words in hiragana that begin a phrase.
const PHRASE_STARTS = words(
  `この その あの どの これ それ あれ どれ ここ そこ あそこ どこ とても まず また そして しかし もう まだ すぐ
  だから ちょっと たくさん みんな いつ なぜ やっと きっと ずっと もっと わたし あなた すべて いろいろ
  ぜひ よく ちょうど ゆっくり はじめ`,
);
// Particles and endings in hiragana.
const ENDINGS = words(
  `は が を に へ と で も の から まで より や か ね よ な ば て た だ だっ です でし でしょ ます まし ませ ん ない なく
  なかっ れ れる られ られる せ せる させ う よう たい たく そう らしい ください くださ い き し いる いた いま いっ いき
  って ても でも ては では には とは のに ので けど けれど など だけ しか ほど くらい ぐらい ばかり ながら さえ こそ だろ
  とき ところ こと もの ため はず わけ まま うち 時 ちゃ じゃ ず ぬ さ め わ ぞ ぜ っ つ り み く け げ`,
);
const PREFIXES = words('お ご 御');
// Each of these belongs to the word after it.
const ADVERBS = words(
  'たった とても もっと まだ もう この その あの どの ある いくら ほんの すぐ ずっと',
);

// In Chinese, TRAILING words belong to the word before them, and LEADING words to the word after them.
const TRAILING = words(
  `的 地 得 了 着 過 过 们 們 吗 嗎 呢 吧 啊 呀 嘛 之 等 里 裡 上 中 下 内 內 外 后 後 前 来 來 去 起来 时 時
  时候 之后 之前 以后 以前 以上 以下`,
);
const LEADING = words(
  `在 把 被 对 對 从 從 和 与 與 跟 向 往 给 給 为 為 以 由 于 於 是 不 没 沒 没有 很 也 都 就 还 還 更 最 又 再 将
  將 会 會 能 可以 要 想 让 讓 使 这 這 那 每 各 某 几 幾 这个 那个 一个 这些 那些 一些 或 及 并 而 但 因为 所以 如果 的话
  我们的 你们的 他们的 已经 正在 非常 应该 必须 需要 不是 不能 不会 我 你 他 她 它 我们 你们 他们 他的 我的 第`,
);

const SIGNS_AT_END = /[^\p{L}\p{N}]+$/u;
/** Matches a Chinese numeral, or a word such as 每 or 这, followed by a measure word (for example, 一盏). */
const MEASURED = /^[一二两兩三四五六七八九十几幾每这這那][\p{Script=Han}]$/u;

function clingInUnspaced(before: string, after: string, isJapanese: boolean): number {
  if (DIGITS_ONLY.test(before)) return 70;
  const word = after.replace(SIGNS_AT_END, '');
  return isJapanese ? clingInJapanese(before, word) : clingInChinese(before, word);
}

function clingInJapanese(before: string, after: string): number {
  if (PREFIXES.has(before)) return 90;
  if (ENDINGS.has(after)) return 95;
  if (ADVERBS.has(before)) return 50;
  if (BEGINS_IN_HIRAGANA.test(after)) {
    if (PHRASE_STARTS.has(after)) return 10;
    return ENDS_IN_HIRAGANA.test(before) ? 45 : 95;
  }
  if (!ENDS_IN_HIRAGANA.test(before)) return 50;
  return before.endsWith('の') ? 25 : 5;
}

function clingInChinese(before: string, after: string): number {
  if (TRAILING.has(after)) return 80;
  if (LEADING.has(before) || MEASURED.test(before)) return 55;
  return LEADING.has(after) ? 10 : 20;
}

// No line should end after one of these articles, prepositions and similar words.
const LEADING_WORDS = words(
  `a an the my your his her its our their this that these those some any every each no of in on at to
  from for with by into onto over under after before about between through during without within
  against among upon off than as per via near across along around behind below beneath beside beyond
  down inside outside toward towards up above not very so more most such quite rather too
  und der die das den dem des ein eine einen einem einer eines kein keine keinen mein meine meinen sein
  seine seinen ihr ihre ihren unser unsere unseren dieser diese dieses diesen diesem jeder jede
  jedes im am zum zur vom beim ins ans auf aus bei bis durch für gegen hinter mit nach neben ohne
  seit über um unter von vor während wegen zu zwischen nicht sehr
  le la les un une des du de mon ma mes ton ta tes son sa ses notre votre leur leurs ce cet cette ces
  à au aux dans sur sous avec sans pour par chez vers entre
  el los las unos unas del al mi tu su sus este esta estos estas con sin por para según
  il lo gli i uno dello della dei degli delle nel nella con per tra fra
  o os as um uma uns umas dos da das no na nos nas em com por
  het een van naar met voor door bij uit op`,
);

// A line may end before one of these conjunctions and pronouns, but not after it.
const CLAUSE_WORDS = words(
  `and or but nor yet because although though while when whenever where whereas if unless until since
  which who whom whose that what how why whether
  und oder aber sondern denn weil dass daß obwohl während wenn als ob damit bevor nachdem sobald
  sodass wo wie
  et ou mais car donc parce que qui quand lorsque si comme où
  y o pero porque aunque cuando si que donde como
  e ma perché che quando se dove come mas porque quando onde en of maar want omdat dat als toen`,
);

// No line should end after one of these, because the verb follows.
const LINKING_WORDS = words(
  `i you he she it we they who is are was were be been being am do does did have has had will would
  can could shall should may might must don't didn't doesn't won't can't isn't aren't i'm you're
  he's she's it's we're they're i've we've i'll we'll you'll let's
  ich du er sie es wir ihr man ist sind war waren hat haben hatte wird werden wurde kann können muss
  müssen soll will
  je tu il elle on nous vous ils elles est sont a ont`,
);

// These never end a sentence.
const ABBREVIATIONS = words(
  `dr. mr. mrs. ms. prof. hr. nr. ca. bzw. vgl. evtl. ggf. inkl. sog. z.b. d.h. u.a. mme. mlle.
  sra. geb. zzgl. bspw. insb.`,
);

const TITLES = words('st. mt. fr. herr frau mr mrs ms dr prof mme mlle z. d. s. u. m. str. sr.');

// A number follows these.
const NUMBERED = words('abs. art. bd. kap. s. no. vol. fig. p. pp. sec. ch.');

// An ordinal number follows these, whose full stop does not end the sentence.
const BEFORE_ORDINALS = words(
  'am vom zum bis der den dem des im ab seit nach vor die das jeden und pro',
);
