import { clockMs } from './clock.ts';
import type { CueRow, SourceRow } from './cue-text.ts';
import { readCueText } from './cue-text.ts';
import { DocumentError } from './document-error.ts';

/** A subtitle with its start and end time. */
export interface FileCue {
  readonly startMs: number;
  readonly endMs: number;
  /** The rows of text, without tags and without empty rows. */
  readonly rows: readonly CueRow[];
  /** Number of the line that contains the cue's times, from 1. */
  readonly line: number;
}

/**
 * Parses SubRip, WebVTT (W3C) or SubViewer (.sbv) into cues. In these formats, a cue's text continues until the times of the next cue,
 * because many files have blank lines inside of a cue, or none between two cues.
 * @returns no cues if no line has times
 * @throws DocumentError that names the line
 */
export function parseCues(subtitles: string): readonly FileCue[] {
  const lines = subtitles.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  const isWebVtt = HEADER.test(lines[0] ?? '');
  const cues: OpenCue[] = [];
  let place: 'comment' | 'cue' | 'start' = 'start';
  for (const [index, line] of lines.entries()) {
    const times = timesIn(line);
    if (times !== undefined) {
      const last = cues.at(-1);
      if (place === 'cue' && last !== undefined) removeIdentifier(last, cues.length + 1, isWebVtt);
      cues.push({ ...times, line: index + 1, rows: [] });
      place = 'cue';
    } else if (isWebVtt && isAfterEmptyLine(lines, index) && COMMENT.test(line)) place = 'comment';
    else if (place === 'comment') continue;
    else if (LIKE_TIMES.test(line)) throw invalidTimes(line, index + 1);
    else if (place === 'cue') cues.at(-1)?.rows.push({ text: line, line: index + 1 });
  }
  return cues.map((cue) => ({ ...cue, rows: readCueText(cue.rows, isWebVtt) }));
}

interface OpenCue extends Times {
  readonly line: number;
  readonly rows: SourceRow[];
}

interface Times {
  readonly startMs: number;
  readonly endMs: number;
}

const HEADER = /^WEBVTT(?:\s|$)/;
// The first line of a WebVTT block without a cue. A joined file has several headers.
const COMMENT = /^(?:NOTE(?:[ \t]|$)|(?:STYLE|REGION)[ \t]*$|\ufeff?WEBVTT(?:\s|$))/;
// A time beside an arrow. A cue with incorrect times must not be lost.
const LIKE_TIMES = new RegExp(
  // The limits keep the time proportional to the length of the line.
  String.raw`\d:\d[\d:.,]{0,20}\s{0,20}-->|-->\s{0,20}\d{1,9}:\d|^\s*[\d:]+:\d+[,.]\d+\s*[^\s\d]{1,4}\s*\d+:\d`,
);

function isAfterEmptyLine(lines: readonly string[], index: number): boolean {
  return (lines[index - 1] ?? '') === '';
}

// Removes the number or the identifier of the next cue from the end of this cue's text.
function removeIdentifier({ rows }: OpenCue, number: number, isWebVtt: boolean): void {
  const [before, last] = rows.slice(-2).map(({ text }) => text);
  const beside = last ?? before ?? '';
  const isIdentifier = isWebVtt && beside !== '' && (last === undefined || before === '');
  if (isIdentifier || /^\ufeff?\s*\d+\s*$/.test(beside)) {
    rows.pop();
    return;
  }
  // In a file whose line ends were doubled, a blank line is between a cue's number and its times.
  const at = rows.findLastIndex(({ text }) => text.trim() !== '');
  if (at < rows.length - 1 && Number(rows[at]?.text.trim()) === number) rows.length = at;
}

function timesIn(line: string): Times | undefined {
  const [from = '', to] = line.split(SBV_TIMES.test(line) ? ',' : '-->', 2);
  if (to === undefined) return undefined;
  const [startMs, endMs] = [clockMs(from), clockMs(/\S+/.exec(to)?.[0] ?? '')];
  return startMs === undefined || endMs === undefined ? undefined : { startMs, endMs };
}

// The times of SubViewer, which YouTube writes.
const SBV_TIMES = /^\d{1,9}:\d\d:\d\d\.\d{3},\d{1,9}:\d\d:\d\d\.\d{3}\s*$/;

function invalidTimes(text: string, line: number): DocumentError {
  return new DocumentError(`not a time of a subtitle: "${text.trim().slice(0, 60)}"`, {
    line,
    hint: 'Use 00:00:01,000 --> 00:00:02,500.',
  });
}
