import { clockMs } from '../text/formats/clock.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import type { Cue } from './cue-shape.ts';
import type { TimedPiece } from './timed-line.ts';
import { timedLines } from './timed-line.ts';

/**
 * Parses the events of a file of Advanced SubStation Alpha or SubStation Alpha. The syllables of karaoke become word
 * times. Leaves out comments, drawings and formatting.
 * @throws DocumentError that names the line
 */
export function parseAss(content: string): readonly Cue[] {
  let fields = EVENT_FIELDS;
  const cues: Cue[] = [];
  for (const [index, row] of content.split(/\r\n|\n|\r/).entries()) {
    const [, kind = '', rest = ''] = /^(Format|Dialogue):\s*(.*)$/i.exec(row) ?? [];
    // Only the format of events has a field for the text, which is the last.
    if (kind.toLowerCase() === 'format' && /,\s*Text\s*$/i.test(rest)) {
      fields = rest.split(',').map((field) => field.trim().toLowerCase());
    }
    if (kind.toLowerCase() !== 'dialogue') continue;
    const values = splitFields(rest, fields.length);
    const valueOf = (field: string): string => values[fields.indexOf(field)]?.trim() ?? '';
    const [startMs, endMs] = [clockMs(valueOf('start')), clockMs(valueOf('end'))];
    if (startMs === undefined || endMs === undefined) {
      throw new DocumentError('not an event with a start and an end', {
        line: index + 1,
        hint: 'Times are such as 0:00:01.50.',
      });
    }
    const speaker = valueOf('name');
    const lines = assLines(values.at(-1) ?? '', startMs);
    if (lines.length === 0) continue;
    cues.push({ startMs, endMs, lines, ...(speaker === '' ? {} : { speaker }) });
  }
  return cues;
}

const EVENT_FIELDS: readonly string[] =
  'layer,start,end,style,name,marginl,marginr,marginv,effect,text'.split(',');

function splitFields(rest: string, count: number): readonly string[] {
  const parts = rest.split(',');
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(',')];
}

// Overrides in braces, breaks and hard spaces; a brace after a backslash is a sign of the text.
const ASS_MARKUP = /\\[Nnh{}]|\{[^{}]*\}/g;

function assLines(text: string, startMs: number): Cue['lines'] {
  const lines: TimedPiece[][] = [[]];
  let [now, next] = [startMs, startMs];
  let isDrawing = false;
  let done = 0;
  const add = (piece: string): void => {
    if (piece !== '' && !isDrawing) lines.at(-1)?.push({ text: piece, startMs: now });
  };
  for (const { 0: markup, index } of text.matchAll(ASS_MARKUP)) {
    add(text.slice(done, index));
    done = index + markup.length;
    if (markup === String.raw`\N`) lines.push([]);
    else if (markup === String.raw`\n` || markup === String.raw`\h`) add(' ');
    else if (markup.startsWith('\\')) add(markup.slice(1));
    else {
      for (const [, centiseconds] of markup.matchAll(/\\(?:kf|ko|k)(\d+)/gi)) {
        now = next;
        next += Number(centiseconds) * 10;
      }
      const [, scale] = /\\p(\d+)/.exec(markup) ?? [];
      if (scale !== undefined) isDrawing = Number(scale) > 0;
    }
  }
  add(text.slice(done));
  return timedLines(lines);
}

// A line of lyrics after which the file has no time.
const LAST_LINE_MS = 5_000;

/**
 * Parses an LRC file, also with a time before each word ("enhanced" LRC). A line ends where the next line begins, or an
 * empty line.
 * @throws DocumentError that names the line
 */
export function parseLrc(content: string): readonly Cue[] {
  const rows: { readonly startMs: number; readonly text: string }[] = [];
  let offset = 0;
  for (const [index, row] of content.split(/\r\n|\n|\r/).entries()) {
    const { 0: tags } = /^\s*(?:\[(?:\d|[a-z#]+:)[^\]]*\])*/i.exec(row) ?? [''];
    const [, shift] = /\[offset:\s*([+-]?\d+)\s*\]/i.exec(tags) ?? [];
    // A positive offset shows the text earlier.
    if (shift !== undefined) offset = -Number(shift);
    for (const [, time = ''] of tags.matchAll(/\[(\d[^\]]*)\]/g)) {
      rows.push({ startMs: lrcMs(time, index + 1), text: row.slice(tags.length) });
    }
  }
  const moved = (ms: number): number => Math.max(0, ms + offset);
  const sorted = rows.toSorted((a, b) => a.startMs - b.startMs);
  let [next, later] = [sorted.at(-1)?.startMs ?? 0, Infinity];
  const ends = sorted.toReversed().map(({ startMs }) => {
    if (startMs < next) [next, later] = [startMs, next];
    return later === Infinity ? startMs + LAST_LINE_MS : later;
  });
  return sorted.flatMap(({ startMs, text }, index): readonly Cue[] => {
    const endMs = ends.at(-1 - index) ?? startMs;
    const pieces = lrcPieces(text, startMs);
    const lines = timedLines([
      pieces.map((piece) => ({ ...piece, startMs: moved(piece.startMs) })),
    ]);
    if (lines.length === 0) return [];
    return [{ startMs: moved(startMs), endMs: moved(endMs), lines }];
  });
}

function lrcPieces(text: string, startMs: number): readonly TimedPiece[] {
  const pieces: TimedPiece[] = [];
  let [now, done] = [startMs, 0];
  for (const { 0: tag, index } of text.matchAll(/<\d{1,9}:\d\d(?:[.:]\d{1,3})?>/g)) {
    pieces.push({ text: text.slice(done, index), startMs: now });
    now = lrcMs(tag.slice(1, -1), 0);
    done = index + tag.length;
  }
  return [...pieces, { text: text.slice(done), startMs: now }];
}

// Minutes may exceed 59. Some programs write a colon before the fraction.
function lrcMs(time: string, line: number): number {
  const [, minutes, seconds, fraction = ''] =
    /^(\d{1,9}):([0-5]?\d)(?:[.:](\d{1,3}))?$/.exec(time) ?? [];
  if (seconds === undefined) {
    throw new DocumentError(`not a time of a line of lyrics: "${time.slice(0, 60)}"`, {
      line,
      hint: 'Use [01:02.50].',
    });
  }
  return (Number(minutes) * 60 + Number(seconds)) * 1_000 + Number(fraction.padEnd(3, '0'));
}
