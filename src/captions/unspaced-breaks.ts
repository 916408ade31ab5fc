/**
 * Where a line had better not end in scripts without spaces, beyond what is forbidden: Japanese is
 * cut before a phrase rather than within one, and small Chinese words stay with their neighbours.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const HIRAGANA = String.raw`[\p{Script=Hiragana}ー]`;
const ENDS_IN_HIRAGANA = new RegExp(`${HIRAGANA}$`, 'u');
const BEGINS_IN_HIRAGANA = new RegExp(`^${HIRAGANA}`, 'u');
const NUMBER = /[\p{N}一二三四五六七八九十百千万亿億兆两]$/u;

/** Words in hiragana that begin a phrase. */
const PHRASE_STARTS = words(
  `この その あの どの これ それ あれ どれ ここ そこ あそこ どこ とても まず また そして しかし もう まだ すぐ
  だから ちょっと たくさん みんな いつ なぜ やっと きっと ずっと もっと わたし あなた すべて いろいろ
  ぜひ よく ちょうど ゆっくり はじめ`,
);
/** Particles and endings, which are written in hiragana. */
const ENDINGS = words(
  `は が を に へ と で も の から まで より や か ね よ な ば て た だ だっ です でし でしょ ます まし ませ ん ない なく
  なかっ れ れる られ られる せ せる させ う よう たい たく そう らしい ください くださ い き し いる いた いま いっ いき
  って ても でも ては では には とは のに ので けど けれど など だけ しか ほど くらい ぐらい ばかり ながら さえ こそ だろ
  とき ところ こと もの ため はず わけ まま うち 時 ちゃ じゃ ず ぬ さ め わ ぞ ぜ っ つ り み く け げ`,
);
const PREFIXES = words('お ご 御');
/** Words that lead on to the next one. */
const ADVERBS = words(
  'たった とても もっと まだ もう この その あの どの ある いくら ほんの すぐ ずっと',
);

/** Chinese words that lean on what is before them. */
const TRAILING = words(
  `的 地 得 了 着 過 过 们 們 吗 嗎 呢 吧 啊 呀 嘛 之 等 里 裡 上 中 下 内 內 外 后 後 前 来 來 去 起来 时 時
  时候 之后 之前 以后 以前 以上 以下`,
);
/** Chinese words that lead on to what follows. */
const LEADING = words(
  `在 把 被 对 對 从 從 和 与 與 跟 向 往 给 給 为 為 以 由 于 於 是 不 没 沒 没有 很 也 都 就 还 還 更 最 又 再 将
  將 会 會 能 可以 要 想 让 讓 使 这 這 那 每 各 某 几 幾 这个 那个 一个 这些 那些 一些 或 及 并 而 但 因为 所以 如果 的话
  我们的 你们的 他们的 已经 正在 非常 应该 必须 需要 不是 不能 不会 我 你 他 她 它 我们 你们 他们 他的 我的 第`,
);

const SIGNS_AT_END = /[^\p{L}\p{N}]+$/u;
/** A number and what is counted: 一盏. */
const MEASURED = /^[一二两兩三四五六七八九十几幾每这這那][\p{Script=Han}]$/u;

/**
 * How much two words without a space between them belong together: 0 not at all, 100 very much.
 */
export function clingInUnspaced(before: string, after: string, isJapanese: boolean): number {
  if (NUMBER.test(before)) return 70;
  const word = after.replace(SIGNS_AT_END, '');
  return isJapanese ? clingInJapanese(before, word) : clingInChinese(before, word);
}

/** A phrase is a word with the particles and endings after it, which are written in hiragana. */
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
