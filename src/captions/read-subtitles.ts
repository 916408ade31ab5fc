import { usageFailure } from '../errors/failure.ts';
import { rowText } from '../text/formats/cue-text.ts';
import { parseCues } from '../text/formats/cues.ts';
import { parserOf, readCues, readFrom } from './read-cues.ts';
import type { ShownCue } from './violations.ts';
import { shownCues } from './violations.ts';

/**
 * Reads the cues of a subtitle file of any format, without their markup.
 * @param shown name of the file for messages
 * @throws Failure of kind `usage` for a line with invalid times, and for a file in any other format
 */
export function readSubtitles(content: string, shown: string): ShownCue[] {
  if (parserOf(content) !== undefined) return shownCues(readCues(content, shown));
  const cues = readFrom(shown, () => parseCues(content));
  if (cues.length === 0 && !/^\ufeff?(?:WEBVTT(?:\s|$)|\s*$)/.test(content)) {
    throw usageFailure(
      `${shown} is not a subtitle or timings file`,
      'Use a .srt, .vtt, .ass, .ttml or .lrc file, or a file that `foley tts --timings FILE.json` created.',
    );
  }
  return cues.map(({ endMs, line, rows, startMs }) => {
    const lines: string[] = [];
    for (const row of rows) {
      // Keep empty rows inside of the cue, so that the line numbers of violations are correct.
      while (lines.length < row.line - line - 1) lines.push('');
      lines.push(rowText(row));
    }
    return { startMs, endMs, lines, line };
  });
}
