import path from 'node:path';
import { usageFailure } from '../../errors/failure.ts';
import type { ChapterChoice } from '../../text/chapters.ts';
import { decodeUtf8 } from '../../text/decode.ts';
import { display } from '../../text/display.ts';
import { refuseForeign } from '../../text/formats/foreign-formats.ts';
import { withoutSounds } from '../../text/formats/sounds.ts';
import { documentFormat } from '../../text/formats/text-formats.ts';
import { unreadable } from '../../speech/text-source.ts';
import type { DraftLine, ScriptPosition, ScriptFormat, ScriptLine } from '../script.ts';
import { describePlace, placeFailure, SCRIPT_FORMATS } from '../script.ts';

export interface ScriptFile {
  /** Path of the script, for error messages. */
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly format: ScriptFormat;
}

export interface ScriptSource extends ChapterChoice, ScriptFile {
  /** Names of the speakers in the cast. */
  readonly cast: readonly string[];
  /** True to accept a line that begins before the end of the previous line, in a script with times. */
  readonly mayOverlap: boolean;
  /** Whether descriptions of sounds, such as `[MUSIC]`, are left out of subtitles. */
  readonly dropSounds?: true | undefined;
  /** Stops the reading of a book. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the format of a script. If no format is given, the file extension determines it.
 * @throws Failure of kind `usage`
 */
export function scriptFormat(file: string, given: ScriptFormat | undefined): ScriptFormat {
  if (given !== undefined) return given;
  const extension = path.extname(file).slice(1).toLowerCase();
  if (['', 'txt', 'text'].includes(extension) || isMarkdown(file)) return 'dialogue';
  const format = SCRIPT_FORMATS.find((one) => one === (SAME_FORMAT.get(extension) ?? extension));
  if (format !== undefined) return format;
  throw usageFailure(
    `${display(file)} has the extension .${display(extension)}; scripts have .txt, .md, .jsonl, .csv, .tsv, .epub, .docx, .odt, .rtf, .fb2, .srt or .vtt`,
    `Name the format: --script-format ${SCRIPT_FORMATS.join('|')}.`,
  );
}

const SAME_FORMAT: ReadonlyMap<string, ScriptFormat> = new Map([
  ['ndjson', 'jsonl'],
  ['sbv', 'srt'],
  ['tsv', 'csv'],
]);

function isMarkdown(file: string): boolean {
  return documentFormat('auto', file) === 'markdown';
}

/**
 * Reads the lines of a script in any format.
 * @param onNotice called with a sentence about unused columns of a CSV file, files that are missing from a book, or a line
 * without letters and digits, such as `...`, which is left out
 * @throws Failure of kind `usage` with line and column
 */
export async function readScript(
  source: ScriptSource,
  onNotice: (sentence: string) => void,
): Promise<readonly ScriptLine[]> {
  const lines = numbered(await draftsOf(source, onNotice), onNotice);
  checkIds(lines);
  checkTimes(lines, source.mayOverlap);
  if (lines.length > 0) return lines;
  throw usageFailure(`${display(source.file)} has no lines to speak`);
}

async function draftsOf(
  source: ScriptSource,
  onNotice: (sentence: string) => void,
): Promise<readonly DraftLine[]> {
  const { bytes, cast, file, format } = source;
  switch (format) {
    case 'dialogue': {
      const { readDialogue } = await import('./dialogue.ts');
      const withoutMarks = isMarkdown(file)
        ? (await import('../../text/formats/markdown.ts')).readInlineMarkdown
        : undefined;
      return readDialogue(textOf(source), { file, cast, withoutMarks });
    }
    case 'jsonl':
    case 'csv': {
      const { readRows } = await import('./rows.ts');
      return readRows(file, format, bytes, onNotice);
    }
    case 'epub':
    case 'docx':
    case 'odt':
    case 'rtf':
    case 'fb2': {
      const { readBook } = await import('./documents.ts');
      const { onlyChapters, signal, skipFrontMatter } = source;
      return readBook(file, format, bytes, { onlyChapters, skipFrontMatter, onNotice, signal });
    }
    case 'srt':
    case 'vtt': {
      const { readTimedCues } = await import('./documents.ts');
      const text = textOf(source);
      const spoken = source.dropSounds === true ? withoutSounds(text) : text;
      return readTimedCues(spoken, file, cast);
    }
  }
}

function textOf({ bytes, file }: ScriptSource): string {
  try {
    // The format of a script is known, whatever the extension of its file is.
    refuseForeign(undefined, bytes, '--script-format');
    return decodeUtf8(bytes);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function numbered(
  drafts: readonly DraftLine[],
  onNotice: (sentence: string) => void,
): readonly ScriptLine[] {
  // A line that is only a pause becomes silence of its neighbours.
  const lines: ScriptLine[] = [];
  let silence = 0;
  let chapter: string | undefined;
  for (const draft of drafts) {
    const [first = 0, ...rest] = draft.silences;
    silence += first;
    chapter = draft.chapter ?? chapter;
    if (draft.texts.length === 0) {
      if (first === 0) {
        onNotice(`${describePlace(draft.place)}: no letter or digit to speak: left out`);
      }
      silence += draft.pauseAfterMs ?? 0;
      continue;
    }
    const silences = [silence, ...rest];
    const named = chapter === undefined ? {} : { chapter };
    lines.push({ ...draft, ...named, silences, number: lines.length + 1 });
    [silence, chapter] = [0, undefined];
  }
  const last = lines.at(-1);
  if (last === undefined || silence === 0) return lines;
  const silences = [...last.silences.slice(0, -1), (last.silences.at(-1) ?? 0) + silence];
  return [...lines.slice(0, -1), { ...last, silences }];
}

function checkIds(lines: readonly ScriptLine[]): void {
  const places = new Map<string, ScriptLine>();
  for (const line of lines) {
    if (line.id === undefined) continue;
    const other = places.get(line.id);
    if (other !== undefined) {
      const problem = `the id "${display(line.id)}" is also that of ${describePlace(other.place)}`;
      throw placeFailure(line.place, problem, 'Give each line its own id.');
    }
    places.set(line.id, line);
  }
}

function checkTimes(lines: readonly ScriptLine[], mayOverlap: boolean): void {
  let before:
    | { readonly place: ScriptPosition; readonly startMs: number; readonly endMs: number }
    | undefined;
  for (const { endMs, place, startMs } of lines) {
    if (startMs === undefined) continue;
    if (before !== undefined && startMs < before.startMs) {
      const problem = `this line begins before that of ${describePlace(before.place)}`;
      throw placeFailure(place, problem, 'Sort the lines by their times.');
    }
    if (before !== undefined && startMs < before.endMs && !mayOverlap) {
      const problem = `this line begins before that of ${describePlace(before.place)} ends`;
      throw placeFailure(place, problem, 'Correct the times, or allow it with --timing overlap.');
    }
    before = { place, startMs, endMs: endMs ?? startMs };
  }
}
