import type { SpeechControls } from '../contract/speech.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

/** The values of `--script-format`. */
export const SCRIPT_FORMATS = [
  'dialogue',
  'jsonl',
  'csv',
  'epub',
  'docx',
  'odt',
  'rtf',
  'fb2',
  'srt',
  'vtt',
] as const;
export type ScriptFormat = (typeof SCRIPT_FORMATS)[number];

/** The fields that a script can set for one line. Flags and the cast supply the missing fields. */
export interface LineFields {
  readonly id?: string;
  /** The speaker's name; undefined for the narrator. */
  readonly speaker?: string;
  readonly voiceId?: string;
  readonly modelId?: string;
  readonly controls?: SpeechControls;
  /** Start time of the line in milliseconds; undefined if the script sets none. */
  readonly startMs?: number;
  /** End time of the line in milliseconds, from a subtitle cue; undefined if the script sets none. */
  readonly endMs?: number;
  /** Silence after the line in milliseconds. Used instead of `--gap` or `--chapter-gap`. */
  readonly pauseAfterMs?: number;
  /** Title of a chapter that begins with this line. */
  readonly chapter?: string;
}

/** A paragraph of a book, which is a line of the script. */
export interface BookParagraph {
  /** The file of the book that contains the paragraph. */
  readonly file: string;
  /** Start and end of the paragraph in the text of this file, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** A line of a script, as parsed from the file. A line that is only a pause has no texts. */
export interface DraftLine extends LineFields {
  readonly place: ScriptPosition;
  /**
   * The texts of the line. The line is split at its pauses, and also where a text would be too long for one request.
   */
  readonly texts: readonly string[];
  /** Silences in milliseconds: before each text of the line, and after the last text. */
  readonly silences: readonly number[];
  /** Set only for a line of a book. */
  readonly paragraph?: BookParagraph;
}

/** A line of a script, with at least one text. */
export interface ScriptLine extends DraftLine {
  /** Line number from 1, as `--only`, `--redo` and `--dry-run` use it. */
  readonly number: number;
}

/** A position in a script file. */
export interface ScriptPosition {
  /** Path of the file. For a book, also the numbers of the chapter and the paragraph. */
  readonly file: string;
  /** Line number from 1; undefined for a book. */
  readonly line?: number;
  /** Column from 1, counted in code points. In a CSV table: the name of the column. */
  readonly column?: number | string;
}

/** Formats a position for error messages, such as `talk.txt, line 3, column 1`. */
export function describePlace({ column, file, line }: ScriptPosition): string {
  const parts = [
    line === undefined ? [] : `line ${line}`,
    column === undefined ? [] : `column ${column}`,
  ];
  return [file, ...parts.flat()].map((part) => display(part)).join(', ');
}

/** Creates the Failure for an error in a script or cast file. Its message begins with the position of the error. */
export function placeFailure(place: ScriptPosition, problem: string, hint?: string): Failure {
  const position = describePlace(place);
  return usageFailure(`${position}: ${problem}`, hint);
}
