import type { Cue } from '../../src/captions/cue-shape.ts';
import { lineText } from '../../src/captions/cue-shape.ts';

/** A cue as every reader of subtitles understands it. */
export interface ReadCue {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What a reader should find of cues that were written. */
export function written(cues: readonly Cue[]): ReadCue[] {
  return cues.map(({ startMs, endMs, lines }) => ({
    from: startMs,
    to: endMs,
    text: lines.map((line) => lineText(line)).join('\n'),
  }));
}

/** The text of a WebVTT cue: without its tags, and with what was escaped. */
export function unescaped(markup: string): string {
  return markup
    .replaceAll(/<[\d:.]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
