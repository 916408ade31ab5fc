import type { Cue, CueLine } from './cue-shape.ts';
import { timestamp } from './timestamp.ts';

/**
 * A WebVTT file (W3C, WebVTT: The Web Video Text Tracks Format): UTF-8 without a byte order mark, LF.
 *
 * @param wordTimes writes a timestamp before each word that is said after its cue appears
 */
export function vttFile(
  cues: readonly Cue[],
  { wordTimes }: { readonly wordTimes: boolean },
): string {
  const blocks = cues.map((cue) => {
    const isLater = wordTimes ? laterTimes(cue) : () => false;
    return `\n${timestamp(cue.startMs, '.')} --> ${timestamp(cue.endMs, '.')}\n${text(cue, isLater)}\n`;
  });
  return `WEBVTT\n${blocks.join('')}`;
}

type IsLater = (ms: number) => boolean;

/** The timestamps within a cue must grow, and lie between its start and its end. */
function laterTimes({ startMs, endMs }: Cue): IsLater {
  let latest = startMs;
  return (ms) => {
    if (ms <= latest || ms >= endMs) return false;
    latest = ms;
    return true;
  };
}

function text({ lines }: Cue, isLater: IsLater): string {
  return lines.map((line) => lineMarkup(line, isLater)).join('\n');
}

function lineMarkup(line: CueLine, isLater: IsLater): string {
  return line
    .map(({ gap, startMs, text: word }, index) => {
      const time = isLater(startMs) ? `<${timestamp(startMs, '.')}>` : '';
      return `${index === 0 ? '' : gap}${time}${escape(word)}`;
    })
    .join('');
}

/** `-->` may not be in the text of a cue, and needs no rule of its own once `>` is escaped. */
function escape(word: string): string {
  return word.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
