import type { Cue } from '../../src/captions/cue-shape.ts';
import { lineText } from '../../src/captions/cue-shape.ts';

/** A parsed cue. */
export interface ReadCue {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Returns the cues that a parser should read. */
export function written(cues: readonly Cue[]): ReadCue[] {
  return cues.map(({ startMs, endMs, lines }) => ({
    from: startMs,
    to: endMs,
    text: lines.map((line) => lineText(line)).join('\n'),
  }));
}

/** Returns the text of a WebVTT cue without tags and escapes. */
export function unescaped(markup: string): string {
  return markup
    .replaceAll(/<[\d:.]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
