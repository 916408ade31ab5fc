import { withoutSilentSigns } from '../../../text/silent-signs.ts';
import type { Source, TracedText } from './traced-text.ts';

/** A word of a text as it is written, and what flite is given for it. */
export interface WrittenWord extends Source {
  /** What stands between spaces in the text for flite: `5` and `degrees` for `5°`. */
  readonly tokens: readonly string[];
}

/**
 * The words of a text that flite may say something for, in order, without the silent signs around
 * them. What flite is given in several parts is one word where it is written as one.
 * @param written the text as it was before it was made speakable
 */
export function writtenWords(speakable: TracedText, written: string): WrittenWord[] {
  const words: WrittenWord[] = [];
  for (const { 0: token, index } of speakable.text.matchAll(/[^ ]+/g)) {
    const source = withoutSigns(speakable.source(index, index + token.length), written);
    if (source === undefined) continue;
    const last = words.at(-1);
    if (last !== undefined && source.start <= last.end) {
      words[words.length - 1] = {
        start: last.start,
        end: Math.max(last.end, source.end),
        tokens: [...last.tokens, token],
      };
    } else words.push({ ...source, tokens: [token] });
  }
  return words;
}

function withoutSigns({ start, end }: Source, written: string): Source | undefined {
  const { at, word } = withoutSilentSigns(written.slice(start, end));
  return word === '' ? undefined : { start: start + at, end: start + at + word.length };
}
