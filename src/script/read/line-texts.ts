import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import { PAUSE_HINT, PauseError, readPauses, splitAtPauses } from '../../text/pauses.ts';
import { plainText } from '../../text/document.ts';
import { display } from '../../text/display.ts';
import type { DraftLine, ScriptPosition } from '../script.ts';
import { placeFailure } from '../script.ts';

/**
 * Splits a line of a script at its pauses. Splits it further where a text is too long for one request.
 * @param place position of the text in the script
 * @param plain removes Markdown or similar markup from a text
 * @throws Failure of kind `usage` for an invalid pause
 */
export function lineTexts(
  text: string,
  place: ScriptPosition,
  plain: (text: string) => string = (given) => given,
): Pick<DraftLine, 'silences' | 'texts'> {
  // The marks are checked at their places in the file.
  withPauses(text, place);
  const { parts, silences } = splitAtPauses(withPauses(plain(text), place), TEXT_MAX_CHARACTERS);
  return { texts: parts.map((part) => part.text.trim().replaceAll(/\s+/g, ' ')), silences };
}

function withPauses(text: string, place: ScriptPosition): ReturnType<typeof readPauses> {
  try {
    return readPauses(plainText(text));
  } catch (error) {
    if (!(error instanceof PauseError)) throw error;
    const isFirst = error.line === 1;
    const { column, line } = place;
    const at = {
      ...place,
      ...(line === undefined ? {} : { line: line + error.line - 1 }),
      column: isFirst && typeof column === 'number' ? column + error.column - 1 : error.column,
    };
    throw placeFailure(at, display(error.message), PAUSE_HINT);
  }
}

/**
 * Finds the speaker's name at the beginning of a text. A colon follows the name. A name that is not in the cast must be
 * written in capitals and have at most four words.
 * @param isMarkdown true if the name may be in bold or italics
 * @returns the name, and the index where the spoken words begin
 */
export function speakerIn(
  text: string,
  cast: readonly string[],
  isMarkdown: boolean,
): { readonly name: string; readonly end: number } | undefined {
  const [all = '', given = ''] = (isMarkdown ? MARKED_NAME : NAME).exec(text) ?? [];
  const name = given.trim();
  const known = cast.find((one) => one.toUpperCase() === name.toUpperCase());
  if (known !== undefined) return { name: known, end: all.length };
  // `HTTP://` is no name.
  const isApart = all.length === text.length || /\s$/.test(all);
  return isApart && IN_CAPITALS.test(name) ? { name, end: all.length } : undefined;
}

const NAME = /^([^:\n]{1,100}):\s*/;
const MARKED_NAME = /^(?:\*\*|__|\*|_)?([^:*_\n]{1,100})(?:\*\*|__|\*|_)?:(?:\*\*|__|\*|_)?\s*/;
const IN_CAPITALS =
  /^(?=.*\p{Lu})[\p{Lu}\p{N}][\p{Lu}\p{M}\p{N}.'’&-]*(?: +[\p{Lu}\p{N}&][\p{Lu}\p{M}\p{N}.'’&-]*){0,3}$/u;
