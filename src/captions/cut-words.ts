import type { CueShape } from './cue-shape.ts';
import type { TokenRow } from './cut-cues.ts';
import { LineFill } from './line-fill.ts';
import { isOpening } from './opening.ts';
import { speakableLength } from './speakable.ts';

/**
 * A cue for every word that is spoken. Signs and pictures that stand alone stay with the word before
 * them, or with the one after when they open something, as long as they fit.
 *
 * @returns how many tokens each cue has
 */
export function cutWords({ tokens }: Pick<TokenRow, 'tokens'>, shape: CueShape): number[] {
  const cues: number[] = [];
  let fill = new LineFill(shape.maxChars);
  let hasWord = false;
  let beganMs = 0;
  for (const { text, lineBreaks, startMs, endMs, ...size } of tokens) {
    const isWord = speakableLength(text) > 0;
    const begins = hasWord && (isWord || lineBreaks > 0 || isOpening(text));
    fill.add(size);
    const fits =
      !fill.isTooWide && fill.lines <= shape.maxLines && endMs - beganMs <= shape.maxDurationMs;
    if (cues.length > 0 && fits && !begins) {
      cues[cues.length - 1] = (cues.at(-1) ?? 0) + 1;
      hasWord ||= isWord;
    } else {
      cues.push(1);
      hasWord = isWord;
      beganMs = startMs;
      fill = new LineFill(shape.maxChars);
      fill.add(size);
    }
  }
  return cues;
}
