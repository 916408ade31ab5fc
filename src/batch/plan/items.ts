import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { SpokenText } from '../../text/document.ts';
import type { Source } from './inputs.ts';
import { inputFile, linesOf, wholeText, requireText } from './inputs.ts';
import type { JsonItem } from './json-line.ts';
import { besideList, itemOf, parseJsonLine } from './json-line.ts';

export const DEFAULT_TEXT_COLUMN = 'text';

// Four bytes per character, and a byte order mark.
const MAX_TEXT_BYTES = TEXT_MAX_CHARACTERS * 4 + 3;

/** Fields of an item from its input; flags supply the fields that the input lacks. */
export interface ItemDraft extends Partial<Omit<JsonItem, 'file' | 'text'>> {
  /** File and line of the item, for messages. */
  readonly source: string;
  /** Value of `{name}`: the file name without its extension; in a list, the item's id or `LIST-NUMBER`. */
  readonly name: string;
  /** Value of `{dir}`: path from the named folder to the file's folder, with `/`; may be empty. */
  readonly dir?: string;
  /** Id to use if the input gives none; default: `name`. */
  readonly title?: string;
  /** The text to send. */
  readonly text: string;
  /** The words of the document, and pauses; undefined for plain text, which is sent unchanged. */
  readonly spoken?: SpokenText;
}

export interface Inputs {
  readonly sources: readonly Source[];
  readonly files: FileSystem;
  readonly textColumn?: string | undefined;
}

/**
 * Counts the items; opens only lists and tables.
 * @throws Failure (usage)
 */
export async function countItems({ sources, textColumn }: Omit<Inputs, 'files'>): Promise<number> {
  let count = 0;
  for (const source of sources) {
    for await (const _entry of entriesOf(source, textColumn)) count += 1;
  }
  return count;
}

/**
 * Yields the items of the inputs and checks each item. Holds one text in memory at a time.
 * @param nameOf returns the name of a list item without an id, from the name of the list and the item number
 * @throws Failure (usage) naming the file, line and key
 */
export async function* draftsOf(
  { files, sources, textColumn }: Inputs,
  nameOf: (list: string, index: number) => string,
): AsyncGenerator<ItemDraft, void, undefined> {
  let index = 0;
  for (const input of sources) {
    for await (const { fields, text: line, where: source } of entriesOf(input, textColumn)) {
      index += 1;
      if (input.kind === 'text') {
        const { dir, name, title } = input;
        const text = checkText(await wholeText(input.file, MAX_TEXT_BYTES), source);
        yield { source, name, dir, title, text };
        continue;
      }
      const name = nameOf(input.name, index);
      if (input.kind === 'lines') {
        yield { source, name, text: checkText(line, source) };
        continue;
      }
      const item = fields === undefined ? parseJsonLine(line, source) : itemOf(fields, source);
      const { file, text = '', ...rest } = item;
      if (file !== undefined) requireText(file, `${source}: `);
      const given =
        file === undefined
          ? text
          : await wholeText(inputFile(besideList(file, input.path), files), MAX_TEXT_BYTES);
      yield { ...rest, source, name: item.id ?? name, text: checkText(given, source) };
    }
  }
}

interface Entry {
  readonly where: string;
  readonly text: string;
  readonly fields?: ReadonlyMap<string, unknown>;
}

async function* entriesOf(
  source: Source,
  textColumn = DEFAULT_TEXT_COLUMN,
): AsyncGenerator<Entry, void, undefined> {
  const file = display(source.file.name);
  if (source.kind === 'text') {
    yield { where: file, text: '' };
  } else if (source.kind === 'csv') {
    const { openTable } = await import('./table.ts');
    const { rows } = await openTable(source.file, textColumn);
    for await (const { fields, line } of rows()) {
      yield { where: `${file}, line ${line}`, text: '', fields };
    }
  } else {
    for await (const { number, text } of linesOf(source.file)) {
      yield { where: `${file}, line ${number}`, text };
    }
  }
}

function checkText(text: string, where: string): string {
  if (text.trim() === '') throw usageFailure(`${where} is empty`, 'Remove it, or add text.');
  if (HALF_PAIR.test(text)) {
    throw usageFailure(
      `${where} contains an unpaired surrogate (UTF-16), which is not a character`,
    );
  }
  const characters = countCodePoints(text);
  if (characters <= TEXT_MAX_CHARACTERS) return text;
  throw usageFailure(
    `${where} has ${characters} characters; one request allows at most ${TEXT_MAX_CHARACTERS}`,
    'Split it into parts.',
  );
}

const HALF_PAIR = /\p{Cs}/u;
