import { usageFailure } from '../errors/failure.ts';
import type { ShownCue } from './violations.ts';

/**
 * Reads the cues of a SubRip or WebVTT file, without their markup.
 * @param shown name of the file for messages
 * @throws Failure of kind `usage` for a line with invalid times, and for a file in any other format
 */
export function readSubtitles(content: string, shown: string): ShownCue[] {
  const rows = content.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  const isWebVtt = /^WEBVTT(?:\s|$)/.test(rows[0] ?? '');
  const cues: ShownCue[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] ?? '';
    const isComment = isWebVtt && COMMENT.test(row);
    if (!isComment && !row.includes('-->')) continue;
    const end = blockEnd(rows, index);
    const from = index;
    index = end;
    if (isComment) continue;
    const times = TIMES.exec(row);
    if (times === null) throw invalidTimes(shown, from, row);
    const lines = rows.slice(from + 1, end).map(isWebVtt ? webVttText : subRipText);
    cues.push({
      startMs: timeOf(times.slice(1, 5)),
      endMs: timeOf(times.slice(5, 9)),
      lines: lines.filter((line) => line.trim() !== ''),
      line: from + 1,
    });
  }
  if (cues.length === 0 && !isWebVtt && content.trim() !== '') {
    throw usageFailure(
      `${shown} is not a SubRip, WebVTT or timings file`,
      'Use a .srt or .vtt file, or a file that `foley tts --timings FILE.json` created.',
    );
  }
  return cues;
}

const TIME = String.raw`(?:(\d+):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s|$)`);
/** Matches the first line of a WebVTT block that contains no cue. */
const COMMENT = /^(?:NOTE|STYLE|REGION)(?:\s|$)/;

function blockEnd(rows: readonly string[], from: number): number {
  let end = from + 1;
  while (end < rows.length && rows[end]?.trim() !== '') end += 1;
  return end;
}

function timeOf([hours = '0', minutes = '0', seconds = '0', fraction = '0']: string[]): number {
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000 + Number(fraction.padEnd(3, '0'));
}

function invalidTimes(shown: string, index: number, row: string): Error {
  return usageFailure(
    `${shown}, line ${index + 1}: invalid times: "${row.trim()}"`,
    'Use times such as 00:00:01,500 --> 00:00:03,000.',
  );
}

function subRipText(line: string): string {
  return line.replaceAll(/<\/?(?:[biu]|font[^<>]*)>|\{\\an?\d\}/gi, '');
}

const ENTITIES = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&nbsp;', '\u00a0'],
  ['&lrm;', ''],
  ['&rlm;', ''],
  ['&amp;', '&'],
]);

function webVttText(line: string): string {
  const entity = /&(?:lt|gt|nbsp|lrm|rlm|amp);/g;
  return line.replaceAll(/<[^<>]*>/g, '').replaceAll(entity, (name) => ENTITIES.get(name) ?? name);
}
