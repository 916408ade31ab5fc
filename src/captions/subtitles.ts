import type { CueShape } from './cue-shape.ts';
import { shapeCues } from './shape-cues.ts';
import { srtFile } from './srt.ts';
import type { Timings } from './timings.ts';
import { vttFile } from './vtt.ts';

export type SubtitleFormat = 'srt' | 'vtt';

/** The text of a subtitle file, and how many cues it has. */
export interface Subtitles {
  readonly content: string;
  readonly cues: number;
}

/**
 * The subtitle file for a text that was spoken. By word, SubRip has a cue for each word; WebVTT, which
 * can time the words within a cue, has phrases with the time of every word.
 */
export function subtitlesOf(timings: Timings, shape: CueShape, format: SubtitleFormat): Subtitles {
  if (format === 'srt') {
    const cues = shapeCues(timings, shape);
    return { content: srtFile(cues), cues: cues.length };
  }
  const wordTimes = shape.by === 'word';
  const cues = shapeCues(timings, wordTimes ? { ...shape, by: 'phrase' } : shape);
  return { content: vttFile(cues, { wordTimes }), cues: cues.length };
}
