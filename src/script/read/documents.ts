import { RECORDING_MAX_MS } from '../../contract/recording-limits.ts';
import type { ExtractOptions } from '../../speech/document-source.ts';
import { extractDocument } from '../../speech/document-source.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import { durationText } from '../../text/duration.ts';
import type { DraftLine, ScriptPosition } from '../script.ts';
import { DocumentError } from '../../text/formats/document-error.ts';
import type { FileCue } from '../../text/formats/cues.ts';
import type { DocumentFormat } from '../../text/formats/text-formats.ts';
import { clockMs } from '../../text/formats/clock.ts';
import { spokenCues, withoutDash } from '../../text/formats/subtitles.ts';
import { paragraphStarts } from '../../text/paragraphs.ts';
import { SPEAKABLE } from '../../text/parts.ts';
import { placeFailure } from '../script.ts';
import { lineTexts, speakerIn } from './line-texts.ts';

/**
 * Reads the paragraphs of a book as lines of the narrator. The chapters of an EPUB come from the table of contents, and
 * those of other documents from their headings.
 * @throws Failure of kind `usage`
 */
export async function readBook(
  file: string,
  format: DocumentFormat,
  bytes: Uint8Array,
  options: ExtractOptions,
): Promise<readonly DraftLine[]> {
  const chapters = await extractDocument(file, format, bytes, options);
  return chapters.flatMap(
    ({ chapters: starts = [], file: part = '', skipped = 0, text }, index) => {
      const paragraphs = text.split(/\n{2,}/);
      const positions = positionsOf(paragraphs, text);
      const beginnings = paragraphStarts(text);
      return paragraphs.map((paragraph, at) => {
        const place = { file: `${file}, chapter ${index + 1}, paragraph ${at + 1}` };
        const chapter = starts.find((start) => start.at === beginnings[at])?.title;
        const { end = 0, start = 0 } = positions[at] ?? {};
        return {
          place,
          ...lineTexts(paragraph, place),
          paragraph: { file: part, start: start + skipped, end: end + skipped },
          ...(chapter === undefined ? {} : { chapter }),
        };
      });
    },
  );
}

function positionsOf(paragraphs: readonly string[], text: string) {
  let end = 0;
  return paragraphs.map((paragraph) => {
    const start = text.indexOf(paragraph, end);
    end = start + paragraph.length;
    return { start, end };
  });
}

/**
 * Reads a timed script from SubRip or WebVTT subtitles. The speakers of a cue share its time in proportion to the
 * length of their texts. Leaves out texts without letters and digits, such as `♪`.
 * @throws Failure of kind `usage` with line and column
 */
export function readTimedCues(
  subtitles: string,
  file: string,
  cast: readonly string[],
): readonly DraftLine[] {
  return cuesOf(subtitles, file).flatMap((cue) => {
    const { endMs, line, startMs } = cue;
    if (endMs <= startMs) {
      throw placeFailure({ file, line, column: 1 }, 'this cue ends before it begins');
    }
    if (endMs > RECORDING_MAX_MS) {
      const limit = `${durationText(RECORDING_MAX_MS)}, the maximum length of a recording`;
      throw placeFailure({ file, line, column: 1 }, `this cue is after ${limit}`);
    }
    const turns = turnsOf(cue, file, cast).filter(({ text }) => SPEAKABLE.test(text));
    const total = turns.reduce((sum, { text }) => sum + countCodePoints(text), 0);
    const timeAt = (characters: number): number =>
      startMs + Math.round(((endMs - startMs) * characters) / total);
    let done = 0;
    return turns.map(({ place, speaker, text }): DraftLine => {
      const from = done;
      done += countCodePoints(text);
      return {
        place,
        startMs: timeAt(from),
        endMs: timeAt(done),
        ...(speaker === undefined ? {} : { speaker }),
        ...lineTexts(text, place),
      };
    });
  });
}

interface SpeakerTurn {
  readonly place: ScriptPosition;
  readonly speaker: string | undefined;
  text: string;
}

// Each speaker of a cue, and each row that begins with a name, is a turn.
function turnsOf({ rows }: FileCue, file: string, cast: readonly string[]): readonly SpeakerTurn[] {
  const turns: SpeakerTurn[] = [];
  let voice: string | undefined;
  for (const { line, spans } of rows) {
    let columns = 0;
    for (const [index, span] of spans.entries()) {
      const row = index === 0 ? withoutDash(span.text) : span.text;
      const named = index === 0 ? speakerIn(row, cast, false) : undefined;
      const text = row.slice(named?.end ?? 0);
      columns += countCodePoints(span.text);
      const column = columns - countCodePoints(text) + 1;
      const last = turns.at(-1);
      if (last !== undefined && named === undefined && span.speaker === voice) {
        last.text += `${index === 0 ? '\n' : ''}${text}`;
        continue;
      }
      if (text.trim() === '' && named === undefined) continue;
      voice = span.speaker;
      turns.push({ place: { file, line, column }, speaker: named?.name ?? voice, text });
    }
  }
  for (const { place, speaker, text } of turns) {
    if (text.trim() === '') throw placeFailure(place, `${display(speaker ?? '')} has no text here`);
  }
  return turns;
}

function cuesOf(subtitles: string, file: string): readonly FileCue[] {
  try {
    return spokenCues(subtitles);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { hint, line = 1, message } = error;
    const row = subtitles.split(/\r\n|\n|\r/)[line - 1] ?? '';
    const [from = '', to = ''] = row.split('-->');
    const isFirst = clockMs(from) === undefined || to === '';
    const column = isFirst ? 1 : row.length - to.trimStart().length + 1;
    throw placeFailure({ file, line, column }, message, hint);
  }
}
