import type { SpokenText } from '../document.ts';
import { plainText } from '../document.ts';
import { rowText } from './cue-text.ts';
import type { CueRow } from './cue-text.ts';
import type { FileCue } from './cues.ts';
import { parseCues } from './cues.ts';
import { DocumentError } from './document-error.ts';

/**
 * Extracts the text of subtitles in SubRip, WebVTT or SubViewer, or of lyrics in LRC.
 * @throws DocumentError that names the line
 */
export function readSubtitles(subtitles: string): SpokenText {
  const lyrics = subtitles.includes('-->') ? [] : lyricsOf(subtitles);
  if (lyrics.length > 0) return plainText(lyrics.join('\n'));
  const texts = spokenCues(subtitles).map(({ rows }) =>
    rows.map((row) => withoutDash(rowText(row)).trim()).join(' '),
  );
  const spoken = texts.map((text) => text.replaceAll(/\s+/g, ' ').trim());
  return plainText(spoken.filter((text) => text !== '').join(' '));
}

// The lines of lyrics, in the order of their times. A line with several times is sung several times.
function lyricsOf(lyrics: string): readonly string[] {
  const sung = lyrics.split(/\r\n|\n|\r/).flatMap((row) => {
    const times = LYRICS_TIMES.exec(row)?.[0] ?? '';
    const text = row.slice(times.length).replaceAll(LYRICS_TIME, '').replaceAll(/\s+/g, ' ').trim();
    if (text === '') return [];
    return [...times.matchAll(LYRICS_TIME)].map(([, minutes, seconds]) => {
      return { at: Number(minutes) * 60 + Number(seconds?.replace(':', '.')), text };
    });
  });
  return sung.toSorted((one, other) => one.at - other.at).map(({ text }) => text);
}

const LYRICS_TIMES = /^\ufeff?\s{0,20}(?:\[\d{1,4}:\d\d(?:[.:]\d{1,3})?\]\s{0,9})+/;
// The time of a line, or of a word.
const LYRICS_TIME = /[[<](\d{1,4}):(\d\d(?:[.:]\d{1,3})?)[\]>]/g;

/** Removes the dash that marks a change of speakers, but not a minus sign or an arrow. */
export function withoutDash(row: string): string {
  return row.replace(/^\s*[-–—](?![-–—>\d])\s*/, '');
}

/**
 * Parses SubRip or WebVTT into the cues to speak. Automatic captions roll up: each cue repeats rows of the previous
 * cue, and adds words. These words are in one cue of the result.
 * @throws DocumentError that names the line
 */
export function spokenCues(subtitles: string): readonly FileCue[] {
  const cues = parseCues(subtitles);
  if (cues.length === 0) {
    throw new DocumentError('not subtitles: no line has a time', {
      hint: 'Use SubRip (.srt), WebVTT (.vtt), SubViewer (.sbv) or lyrics (.lrc).',
    });
  }
  const mayGrow = rowsGrow(cues);
  const spoken: SpokenFileCue[] = [];
  for (const [index, cue] of cues.entries()) {
    const shown = cues[index - 1];
    const last = spoken.at(-1);
    const overlap = shown === undefined ? undefined : overlapOf(shown, cue, mayGrow);
    const added = cue.rows.slice(overlap?.rows);
    if (last !== undefined && overlap !== undefined && (overlap.isGrown || added.length === 0)) {
      last.endMs = Math.max(last.endMs, cue.endMs);
      if (overlap.isGrown)
        last.rows.splice(-1, 1, ...cue.rows.slice(overlap.rows - 1, overlap.rows));
      for (const row of added) last.rows.push(row);
    } else if (added.length > 0) spoken.push({ ...cue, rows: added });
  }
  return spoken;
}

interface SpokenFileCue extends FileCue {
  endMs: number;
  readonly rows: CueRow[];
}

interface Overlap {
  /** Number of rows at the beginning of a cue that the previous cue shows too. */
  readonly rows: number;
  /** True if the last of these rows has more words than in the previous cue. */
  readonly isGrown: boolean;
}

// Two cues with a shorter gap between them are shown without a break: one frame at 24 frames per second.
const FRAME_MS = 42;
// Digital captions show up to 15 rows.
const MOST_ROWS = 15;

function overlapOf(shown: FileCue, cue: FileCue, mayGrow: boolean): Overlap | undefined {
  const isApart = cue.startMs - shown.endMs >= FRAME_MS || cue.startMs < shown.startMs;
  const most = Math.min(shown.rows.length, cue.rows.length, MOST_ROWS);
  if (isApart || most === 0) return undefined;
  const [before, after] = [shown.rows.slice(-most), cue.rows.slice(0, most)].map((rows) =>
    rows.map((row) => wordsOf(row)),
  );
  for (let rows = most; rows > 0; rows -= 1) {
    const repeated = before?.slice(-rows) ?? [];
    const isSame = (row: string, at: number): boolean => row === after?.[at];
    if (!repeated.slice(0, -1).every(isSame)) continue;
    const [from = '', to = ''] = [repeated.at(-1), after?.[rows - 1]];
    if (from === to || (mayGrow && to.startsWith(from))) return { rows, isGrown: from !== to };
  }
  return undefined;
}

function wordsOf(row: CueRow): string {
  return rowText(row).replaceAll(/\s+/g, ' ').trim();
}

// In other subtitles, `Yes` may be followed by `Yes, sir`. Rows that grow do so again and again.
function rowsGrow(cues: readonly FileCue[]): boolean {
  let [pairs, grown] = [0, 0];
  for (const [index, cue] of cues.entries()) {
    const shown = cues[index - 1];
    if (shown === undefined || cue.startMs - shown.endMs >= FRAME_MS) continue;
    pairs += 1;
    if (overlapOf(shown, cue, true)?.isGrown === true) grown += 1;
  }
  return grown > 1 && grown * 3 >= pairs;
}
