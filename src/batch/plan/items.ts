import type { AudioFormat } from '../../contract/values.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { InputFile, Source } from './inputs.ts';
import { inputFile, linesOf, wholeText, requireText } from './inputs.ts';
import type { JsonItem } from './json-line.ts';
import { besideList, itemOf, parseJsonLine } from './json-line.ts';

/** The column of a table that holds the texts. */
export const DEFAULT_TEXT_COLUMN = 'text';

/** Of a text that one request takes: four bytes a character, and a byte order mark. */
const LONGEST_TEXT_BYTES = TEXT_MAX_CHARACTERS * 4 + 3;

/**
 * How many items there are; reads only what has many in it.
 * @throws Failure (usage)
 */
export async function countItems(
  sources: readonly Source[],
  textColumn = DEFAULT_TEXT_COLUMN,
): Promise<number> {
  let count = 0;
  for (const source of sources) {
    if (source.kind === 'text') count += 1;
    else if (source.kind === 'csv') {
      const { openTable } = await import('./table.ts');
      const table = await openTable(source.file, textColumn);
      for await (const _row of table.rows()) count += 1;
    } else for await (const _line of linesOf(source.file)) count += 1;
  }
  return count;
}

/**
 * What the inputs say, item for item, each checked by itself; holds one text at a time.
 * @param nameOf what the item of this number is called in its list
 * @param textColumn of tables
 * @throws Failure (usage) naming the file, the line and the key
 */
export async function* draftsOf(
  sources: readonly Source[],
  nameOf: (list: string, index: number) => string,
  files: FileSystem,
  textColumn = DEFAULT_TEXT_COLUMN,
): AsyncGenerator<ItemDraft, void, undefined> {
  let index = 0;
  for (const source of sources) {
    if (source.kind === 'text') {
      index += 1;
      const { dir, file, name, title } = source;
      yield { ...(await draftOfFile(file, name)), dir, title };
      continue;
    }
    if (source.kind === 'csv') {
      const { openTable } = await import('./table.ts');
      const table = await openTable(source.file, textColumn);
      for await (const { fields, line } of table.rows()) {
        index += 1;
        const where = `${display(source.file.name)}, line ${line}`;
        const name = nameOf(source.name, index);
        yield await draftOfItem(itemOf(fields, where), where, { source, files, name });
      }
      continue;
    }
    for await (const { number, text } of linesOf(source.file)) {
      index += 1;
      const where = `${display(source.file.name)}, line ${number}`;
      if (source.kind === 'lines') {
        yield { source: where, name: nameOf(source.name, index), text: checked(text, where) };
      } else {
        const place = { source, files, name: nameOf('item', index) };
        yield await draftOfItem(parseJsonLine(text, where), where, place);
      }
    }
  }
}

async function draftOfFile(file: InputFile, name: string): Promise<ItemDraft> {
  const source = display(file.name);
  return { source, name, text: checked(await wholeText(file, LONGEST_TEXT_BYTES), source) };
}

interface ListPlace {
  readonly source: Extract<Source, { kind: 'csv' | 'jsonl' }>;
  readonly name: string;
  readonly files: FileSystem;
}

async function draftOfItem(
  { file, text, ...item }: JsonItem,
  where: string,
  place: ListPlace,
): Promise<ItemDraft> {
  if (file !== undefined) requireText(file, `${where}: `);
  const given =
    file === undefined
      ? (text ?? '')
      : await wholeText(
          inputFile(besideList(file, place.source.path), place.files),
          LONGEST_TEXT_BYTES,
        );
  return { ...item, source: where, name: item.id ?? place.name, text: checked(given, where) };
}

function checked(text: string, where: string): string {
  if (text.trim() === '')
    throw usageFailure(`${where} is empty`, 'There is nothing to speak in it.');
  if (HALF_PAIR.test(text)) {
    throw usageFailure(`${where} has half of a surrogate pair in it, which is no character`);
  }
  const characters = countCodePoints(text);
  if (characters <= TEXT_MAX_CHARACTERS) return text;
  throw usageFailure(
    `${where} has ${characters} characters; one request takes at most ${TEXT_MAX_CHARACTERS}`,
    'Cut it into parts.',
  );
}

const HALF_PAIR = /\p{Cs}/u;

/** What an input says of one item; what it does not say comes from the flags. */
export interface ItemDraft {
  /** For messages: the file, with the line where there are many in it. */
  readonly source: string;
  /** `{name}`: the stem of the file, or what its line is called. */
  readonly name: string;
  /** `{dir}`: the folder of its file below the one that was named, with `/` between folders; empty for none. */
  readonly dir?: string | undefined;
  /** What it is called where its input gives no id; by default its name. */
  readonly title?: string | undefined;
  readonly id?: string | undefined;
  readonly text: string;
  readonly output?: string | undefined;
  readonly format?: AudioFormat | undefined;
  readonly voiceId?: string | undefined;
  readonly modelId?: string | undefined;
  readonly controls?: SpeechControls | undefined;
}
