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
export function isInflection(before: string, after: string, following: string): boolean {
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
