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
