import type { CueShape, Cue, CueLine } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import { shapeCues } from './shape-cues.ts';
import type { Timings } from './timings.ts';
import { findViolations, shownCues } from './violations.ts';
import type { CueViolation } from './violations.ts';

export type SubtitleFormat = 'srt' | 'vtt';

/**
 * Creates the content of a subtitle file. If `shape.by` is `word`, a SubRip file has one cue per word, and a WebVTT
 * file has longer cues with a timestamp for each word.
 * @returns the content of the file, the number of cues, and the cues that violate a limit
 */
export function subtitlesOf(timings: Timings, shape: CueShape, format: SubtitleFormat): Subtitles {
  const wordTimes = shape.by === 'word' && format === 'vtt';
  const used: CueShape = wordTimes ? { ...shape, by: 'phrase' } : shape;
  const cues = shapeCues(timings, used);
  const content = format === 'srt' ? srtFile(cues) : vttFile(cues, { wordTimes });
  return { content, cues: cues.length, violations: findViolations(shownCues(cues), used) };
}

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
    const speaker = cue.speaker?.replaceAll(/[\s\p{Cc}]+/gu, ' ');
    const voice = speaker === undefined ? '' : `<v ${escape(speaker)}>`;
    const text = voice + cue.lines.map((line) => lineMarkup(line, isLater)).join('\n');
    return `\n${timestamp(cue.startMs, '.')} --> ${timestamp(cue.endMs, '.')}\n${text}\n`;
  });
  return `WEBVTT\n${blocks.join('')}`;
}

type IsLater = (ms: number) => boolean;

function laterTimes({ startMs, endMs }: Cue): IsLater {
  let latest = startMs;
  return (ms) => {
    if (ms <= latest || ms >= endMs) return false;
    latest = ms;
    return true;
  };
}

function lineMarkup(line: CueLine, isLater: IsLater): string {
  return line
    .map(({ gap, startMs, text: word }, index) => {
      const time = isLater(startMs) ? `<${timestamp(startMs, '.')}>` : '';
      return `${index === 0 ? '' : gap}${time}${escape(word)}`;
    })
    .join('');
}

function escape(word: string): string {
  return word.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Formats a time as `hh:mm:ss` and milliseconds.
 * @param ms a whole number of milliseconds
 * @param mark the separator before the milliseconds: comma for SubRip, full stop for WebVTT
 */
export function timestamp(ms: number, mark: ',' | '.'): string {
  const seconds = ms / 1_000;
  const clock = [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((value) => `${Math.floor(value)}`.padStart(2, '0'))
    .join(':');
  return `${clock}${mark}${`${ms % 1_000}`.padStart(3, '0')}`;
}
