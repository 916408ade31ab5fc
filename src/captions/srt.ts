import type { Cue } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import { timestamp } from './timestamp.ts';

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
