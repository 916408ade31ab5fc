import type { CueShape, Cue, CueLine, SubtitleFormat } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import { escapeMarkup, laterTimes, speakerName, timestamp } from './cue-writing.ts';
import { withDirectionMarks } from './direction-marks.ts';
import { assFile, lrcFile } from './karaoke.ts';
import { shapeCues } from './shape-cues.ts';
import type { Timings } from './timings.ts';
import { ttmlFile } from './ttml.ts';
import { findViolations, shownCues } from './violations.ts';
import type { CueViolation } from './violations.ts';

/**
 * Creates the content of a subtitle file. If `shape.by` is `word`, a SubRip or TTML file has one cue per word, and a
 * WebVTT file has longer cues with a timestamp for each word. Advanced SubStation Alpha and LRC always have word times.
 * @param cues the cues to write; default: cues with the words of the timings
 * @returns the content of the file, the number of cues, and the cues that violate a limit
 */
export function subtitlesOf(
  timings: Timings,
  shape: CueShape,
  format: SubtitleFormat,
  cues?: readonly Cue[],
): Subtitles {
  const isOneEach = format === 'srt' || format === 'ttml';
  const used: CueShape = shape.by === 'word' && !isOneEach ? { ...shape, by: 'phrase' } : shape;
  const written = cues ?? shapeCues(timings, used);
  // Cues that were read from a file keep the word times that the file has.
  const wordTimes = cues !== undefined || shape.by === 'word';
  const marked = withDirectionMarks(written);
  return {
    content: format === 'vtt' ? vttFile(marked, { wordTimes }) : WRITERS[format](marked),
    cues: written.length,
    violations: cues === undefined ? findViolations(shownCues(written), used) : [],
  };
}

const WRITERS = { srt: srtFile, ass: assFile, ttml: ttmlFile, lrc: lrcFile } as const;

/** A subtitle file and its cues. */
export interface Subtitles {
  readonly content: string;
  readonly cues: number;
  readonly violations: readonly CueViolation[];
}

/** Formats a SubRip file with LF and no byte order mark. Cues are numbered from 1 and followed by a blank line. */
export function srtFile(cues: readonly Cue[]): string {
  return cues
    .map(({ startMs, endMs, lines }, index) => {
      const times = `${timestamp(startMs, ',')} --> ${timestamp(endMs, ',')}`;
      // Players would read a line with `-->` as the times of a cue, and SubRip has no way to escape it.
      const text = lines.map((line) => lineText(line).replaceAll('-->', '-- >')).join('\n');
      return `${index + 1}\n${times}\n${text}\n\n`;
    })
    .join('');
}

/**
 * Formats a WebVTT file (W3C) with LF and no byte order mark.
 * @param options with `wordTimes`, each word that is not yet spoken when its cue appears has a timestamp before it
 */
export function vttFile(
  cues: readonly Cue[],
  { wordTimes }: { readonly wordTimes: boolean },
): string {
  const blocks = cues.map((cue) => {
    const isLater = wordTimes ? laterTimes(cue) : () => false;
    const speaker = speakerName(cue);
    const voice = speaker === undefined ? '' : `<v ${escapeMarkup(speaker)}>`;
    const text = voice + cue.lines.map((line) => lineMarkup(line, isLater)).join('\n');
    return `\n${timestamp(cue.startMs, '.')} --> ${timestamp(cue.endMs, '.')}\n${text}\n`;
  });
  return `WEBVTT\n${blocks.join('')}`;
}

function lineMarkup(line: CueLine, isLater: ReturnType<typeof laterTimes>): string {
  return line
    .map(({ gap, startMs, text: word }, index) => {
      const time = isLater(startMs) ? `<${timestamp(startMs, '.')}>` : '';
      return `${index === 0 ? '' : gap}${time}${escapeMarkup(word)}`;
    })
    .join('');
}
