import { countCodePoints } from './code-points.ts';
import type { SpokenText } from './document.ts';
import type { Mark } from './pauses.ts';
import { withoutMarks } from './pauses.ts';

const VOICE_MARK = /^[ \t]*\[[ \t]*voice[ \t]+([^[\]\n]*[^[\]\s])[ \t]*\][ \t]*\r?$/gimu;

/**
 * Converts marks of voices: lines that have only `[voice NAME]`, which changes the voice of the text that follows. In the
 * result, each mark is a pause of 0 ms with a voice. Ignores marks in a spoken form that replaces written text.
 */
export function readVoiceMarks(source: SpokenText): SpokenText {
  const { replaced, text } = source;
  const marks: Mark[] = [];
  let [index, at, next] = [0, 0, 0];
  for (const match of text.matchAll(VOICE_MARK)) {
    const [mark, voice = ''] = match;
    const start = at + countCodePoints(text.slice(index, match.index));
    at = start + countCodePoints(mark);
    index = match.index + mark.length;
    while ((replaced[next]?.spoken.end ?? Infinity) <= start) next += 1;
    if ((replaced[next]?.spoken.start ?? Infinity) < at) continue;
    marks.push({ start, end: at, insert: '', ms: 0, voice });
  }
  return marks.length === 0 ? source : withoutMarks(source, marks);
}
