import { isInflection } from './inflection.ts';

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
export function splitUnspaced(text: string): string[] {
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
