import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { DraftLine, ScriptPosition } from '../script.ts';
import { placeFailure } from '../script.ts';
import { lineTexts, speakerIn } from './line-texts.ts';

export interface DialogueOptions {
  readonly file: string;
  /** Names in the cast. They are recognized as speakers even if the script does not write them in capitals. */
  readonly cast: readonly string[];
  /** Removes inline Markdown, such as `**`, from a text. Undefined if the script is not a Markdown file. */
  readonly withoutMarks: ((text: string) => string) | undefined;
}

/**
 * Reads the lines of a dialogue. `NAME: text` is a line of a speaker, and `# Title` begins a chapter. A text without a
 * name belongs to the narrator.
 * @throws Failure of kind `usage` with line and column
 */
export function readDialogue(text: string, options: DialogueOptions): readonly DraftLine[] {
  const reader = new DialogueReader(options);
  for (const [index, row] of text.split(/\r\n|\n|\r/).entries()) reader.add(row, index + 1);
  return reader.finish();
}

interface OpenSpeech {
  readonly place: ScriptPosition;
  readonly speaker: string | undefined;
  readonly rows: string[];
}

class DialogueReader {
  readonly #options: DialogueOptions;
  readonly #lines: DraftLine[] = [];
  #speech: OpenSpeech | undefined;
  #chapter:
    | { readonly title: string; readonly place: ScriptPosition; readonly level: number }
    | undefined;

  constructor(options: DialogueOptions) {
    this.#options = options;
  }

  add(row: string, line: number): void {
    const { cast, file, withoutMarks } = this.#options;
    const words = row.trim();
    const indent = row.length - row.trimStart().length;
    const place = { file, line, column: indent + 1 };
    if (words === '') this.#endSpeech();
    else if (words.startsWith('>') || IN_PARENTHESES.test(words)) return;
    else if (HEADING.test(words)) this.#beginChapter(words, place);
    else {
      const named = speakerIn(words, cast, withoutMarks !== undefined);
      if (named === undefined) {
        this.#speech ??= { place, speaker: undefined, rows: [] };
        this.#speech.rows.push(this.#speech.rows.length === 0 ? words : row.trimEnd());
        return;
      }
      this.#endSpeech();
      const column = indent + countCodePoints(words.slice(0, named.end)) + 1;
      const rows = named.end === words.length ? [] : [words.slice(named.end)];
      this.#speech = { place: { ...place, column }, speaker: named.name, rows };
    }
  }

  finish(): readonly DraftLine[] {
    this.#endSpeech();
    if (this.#chapter !== undefined) throw emptyChapter(this.#chapter.place);
    return this.#lines;
  }

  #beginChapter(words: string, place: ScriptPosition): void {
    this.#endSpeech();
    const level = words.search(/[^#]|$/);
    // The title of a book or a part, before its first chapter.
    const isPart = this.#chapter !== undefined && this.#chapter.level < level;
    if (this.#chapter !== undefined && !isPart) throw emptyChapter(this.#chapter.place);
    const title = this.#plain(words.replace(HEADING, ''));
    if (title === '') throw placeFailure(place, 'this chapter has no title', 'Write `# Title`.');
    this.#chapter = { title, place, level };
  }

  #endSpeech(): void {
    if (this.#speech === undefined) return;
    const { place, rows, speaker } = this.#speech;
    this.#speech = undefined;
    if (rows.length === 0) {
      const problem = `${display(speaker ?? '')} has no text here`;
      throw placeFailure(place, problem, 'Add a text after the name, or remove the line.');
    }
    const title = this.#chapter?.title;
    this.#chapter = undefined;
    this.#lines.push({
      place,
      ...lineTexts(rows.join('\n'), place, (text) => this.#plain(text)),
      ...(speaker === undefined ? {} : { speaker }),
      ...(title === undefined ? {} : { chapter: title }),
    });
  }

  #plain(text: string): string {
    return (this.#options.withoutMarks?.(text) ?? text).trim();
  }
}

function emptyChapter(place: ScriptPosition): Error {
  return placeFailure(place, 'this chapter has no lines', 'Add a line to it, or remove it.');
}

const HEADING = /^#{1,6}(?:\s+|$)/;
const IN_PARENTHESES = /^\((?:[^()]|\([^()]*\))*\)$/;
