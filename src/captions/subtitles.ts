import type { CueShape, Cue, CueLine } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import { shapeCues } from './shape-cues.ts';
import type { Timings } from './timings.ts';

export type SubtitleFormat = 'srt' | 'vtt';

/** The text of a subtitle file, and how many cues it has. */
interface Subtitles {
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

/**
 * A SubRip file: cues numbered from 1, text as it is but for `-->` (the format has no escapes), a blank
 * line after each cue, UTF-8 without a byte order mark, LF.
 */
export function srtFile(cues: readonly Cue[]): string {
  return cues.map((cue, index) => `${index + 1}\n${times(cue)}\n${text(cue)}\n\n`).join('');
}

function times({ startMs, endMs }: Cue): string {
  return `${timestamp(startMs, ',')} --> ${timestamp(endMs, ',')}`;
}

function text({ lines }: Cue): string {
  // Players take a line with an arrow for the times of a cue.
  return lines.map((line) => lineText(line).replaceAll('-->', '-- >')).join('\n');
}

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
    return `\n${timestamp(cue.startMs, '.')} --> ${timestamp(cue.endMs, '.')}\n${cueText(cue, isLater)}\n`;
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

function cueText({ lines }: Cue, isLater: IsLater): string {
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

/**
 * A time of a subtitle file: hours (two digits, more where there are more), minutes, seconds and
 * milliseconds.
 *
 * @param ms whole milliseconds
 * @param mark between seconds and milliseconds: a comma in SubRip, a full stop in WebVTT
 */
export function timestamp(ms: number, mark: ',' | '.'): string {
  const seconds = ms / 1_000;
  const clock = [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((value) => twoDigits(value))
    .join(':');
  return `${clock}${mark}${`${ms % 1_000}`.padStart(3, '0')}`;
}

function twoDigits(value: number): string {
  return `${Math.floor(value)}`.padStart(2, '0');
}
