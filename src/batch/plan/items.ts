import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Tags } from '../../audio/encode/tags.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { counted, display } from '../../text/display.ts';
import type { DocumentFlags, TextPreparation } from '../../speech/speech-text.ts';
import type { SpokenText } from '../../text/document.ts';
import { joinSpoken, plainText } from '../../text/document.ts';
import type { BookFormat } from '../../text/formats/text-formats.ts';
import { documentFormat, hasChapters } from '../../text/formats/text-formats.ts';
import { SPEAKABLE } from '../../text/parts.ts';
import type { BookChapter } from './chapters.ts';
import type { InputFile, InputSource } from './inputs.ts';
import { inputFile, linesOf, wholeText, requireText } from './inputs.ts';
import type { JsonItem } from './json-line.ts';
import { besideList, itemOf, parseJsonLine } from './json-line.ts';

export const DEFAULT_TEXT_COLUMN = 'text';

/** Maximum number of items in a batch. foley keeps a few hundred bytes of each item in memory. */
const MOST_ITEMS = 1_000_000;

const ENTRIES_PER_TURN = 500;

// Four bytes per character, and a byte order mark.
const MAX_TEXT_BYTES = TEXT_MAX_CHARACTERS * 4 + 3;

/** An item as its input describes it. Flags and settings supply the missing fields. */
export interface ItemDraft extends Partial<Omit<JsonItem, 'file' | 'text'>> {
  /** File and line of the item, for messages. */
  readonly source: string;
  /**
   * Value of the placeholder `{name}` in output names. For a file: its name without the extension. For a list: the
   * item's id or, without an id, the name of the list and a number.
   */
  readonly name: string;
  /**
   * Value of the placeholder `{dir}` in output names: the folder that contains the text file, relative to the folder
   * given on the command line. May be empty.
   */
  readonly dir?: string;
  /**
   * The id of the item if the input contains no id; default `name`. If another item has this id, a number is appended.
   */
  readonly title?: string;
  /** The text to send. */
  readonly text: string;
  /**
   * The text to speak and its pauses. Set only if the text comes from a document or was prepared (for example, by a
   * lexicon).
   */
  readonly spoken?: SpokenText;
  /** The tags of the audio file. Set only for a chapter of a document. */
  readonly tags?: Tags | undefined;
  /**
   * The source of a Markdown document. Earlier versions of foley sent the source itself to the service. The current
   * version uses the source to find the journal records of those requests.
   */
  readonly rawText?: string;
}

interface Documents extends DocumentFlags {
  /** Stops the reading of a large document. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence about files that are missing from a book, or texts that are left out, at each reading. */
  readonly onNotice?: ((sentence: string) => void) | undefined;
}

export interface Inputs extends Documents {
  readonly sources: readonly InputSource[];
  readonly files: FileSystem;
  readonly textColumn?: string | undefined;
  /** Prepares a text for speech; for example, applies a lexicon. `where` names the file and line in messages. */
  readonly prepare?: TextPreparation | undefined;
}

/**
 * Counts the texts of all inputs, also those that {@link draftsOf} leaves out. Opens lists, tables and books, but not
 * plain text files. On abort, throws the signal's abort reason.
 * @throws Failure of kind `usage`, also for more than `MOST_ITEMS` items
 */
export async function countItems(
  { sources, textColumn, ...documents }: Omit<Inputs, 'files' | 'prepare'>,
  signal?: AbortSignal,
): Promise<number> {
  let count = 0;
  for (const source of sources) {
    for await (const { where } of entriesOf(source, textColumn, { ...documents, signal })) {
      signal?.throwIfAborted();
      count += 1;
      if (count > MOST_ITEMS) {
        throw usageFailure(
          `${where} is item ${count}; a batch has at most ${MOST_ITEMS} items`,
          'Split the list, and run a batch for each part.',
        );
      }
    }
  }
  return count;
}

/**
 * Yields the items of all inputs and checks the text of each item. Holds one text in memory at a time. Leaves out texts
 * without letters and digits, such as `...`, which no voice speaks, and reports them with `onNotice`.
 * @param nameOf makes the name of a list item that has no id. Its parameters are the name of the list and the number of
 * the item.
 * @throws Failure of kind `usage` naming the file, line and key
 */
export async function* draftsOf(
  inputs: Inputs,
  nameOf: (list: string, index: number) => string,
): AsyncGenerator<ItemDraft, void, undefined> {
  const { onNotice, sources, textColumn } = inputs;
  let index = 1;
  for (const input of sources) {
    let leftOut = 0;
    let firstLeftOut = '';
    for await (const entry of entriesOf(input, textColumn, inputs)) {
      const draft = await draftOf(entry, input, inputs, (list) => nameOf(list, index));
      const isSpoken = SPEAKABLE.test(draft.text);
      if (isSpoken) yield draft;
      else {
        leftOut += 1;
        if (leftOut === 1) firstLeftOut = draft.source;
      }
      // A text that is left out does not rename those after it. Lines were never counted so.
      if (isSpoken || input.kind !== 'lines') index += 1;
    }
    if (leftOut > 0) onNotice?.(describeLeftOut(firstLeftOut, leftOut));
  }
}

function describeLeftOut(first: string, count: number): string {
  const others = count === 1 ? 'has' : `and ${counted(count - 1, 'other text')} of this file have`;
  return `${first} ${others} no letter or digit to speak: left out`;
}

async function draftOf(
  { chapter, fields, text: line, where: source }: ListEntry,
  input: InputSource,
  { files, prepare, ...documents }: Inputs,
  nameOf: (list: string) => string,
): Promise<ItemDraft> {
  const prepared = (given: ItemText, limit = TEXT_MAX_CHARACTERS): ItemText => {
    const spoken = prepare?.(given.spoken ?? plainText(given.text), source) ?? given.spoken;
    const { text = given.text } = spoken ?? {};
    return { ...given, text: checkText(text, source, limit), ...(spoken && { spoken }) };
  };
  if (input.kind === 'text') {
    const { dir, name, title } = input;
    if (chapter === undefined) {
      return { source, name, dir, title, ...prepared(await textOf(input.file, source, documents)) };
    }
    const { label, spoken, tags } = chapter;
    const named = { name: `${name}-${label}`, title: `${title}-${label}`, tags };
    // A chapter may be longer than a request: it is spoken in parts.
    return { source, dir, ...named, ...prepared({ text: spoken.text, spoken }, Infinity) };
  }
  const name = nameOf(input.name);
  if (input.kind === 'lines') {
    return { source, name, ...prepared(await givenText(line, source, documents)) };
  }
  const item = fields === undefined ? parseJsonLine(line, source) : itemOf(fields, source);
  const { file, text = '', ...rest } = item;
  if (file !== undefined) requireText(file, documents.textFormat, `${source}: `);
  const given =
    file === undefined
      ? await givenText(text, source, documents)
      : await textOf(inputFile(besideList(file, input.path), files), source, documents);
  return { ...rest, source, name: item.id ?? name, ...prepared(given) };
}

interface ListEntry {
  readonly where: string;
  readonly text: string;
  readonly fields?: ReadonlyMap<string, unknown>;
  readonly chapter?: BookChapter;
}

/** Yields the entries of an input. Regularly lets the event loop run, which delivers signals such as Ctrl-C. */
async function* entriesOf(
  source: InputSource,
  textColumn: string | undefined,
  documents: Documents,
): AsyncGenerator<ListEntry, void, undefined> {
  let entries = 0;
  for await (const entry of readEntries(source, textColumn, documents)) {
    entries += 1;
    if (entries % ENTRIES_PER_TURN === 0) await nextTurn();
    yield entry;
  }
}

async function* readEntries(
  source: InputSource,
  textColumn = DEFAULT_TEXT_COLUMN,
  documents: Documents,
): AsyncGenerator<ListEntry, void, undefined> {
  const file = display(source.file.name);
  const book = source.kind === 'text' ? bookFormat(source.file, documents) : undefined;
  if (book !== undefined) {
    const { chaptersOf } = await import('./chapters.ts');
    const chapters = await chaptersOf(source.file, book, documents);
    const [first] = chapters;
    const hasNone = chapters.length === 1 && first?.tags === undefined;
    for (const chapter of chapters) {
      const { number } = chapter;
      const where = number === 0 ? `${file}, before chapter 1` : `${file}, chapter ${number}`;
      yield hasNone ? { where: file, text: '' } : { where, text: '', chapter };
    }
  } else if (source.kind === 'text') {
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

function bookFormat({ name }: InputFile, { textFormat }: DocumentFlags): BookFormat | undefined {
  const format = documentFormat(textFormat, name);
  return hasChapters(format) ? format : undefined;
}

type ItemText = Pick<ItemDraft, 'rawText' | 'spoken' | 'text'>;

async function textOf(file: InputFile, where: string, documents: Documents): Promise<ItemText> {
  const format = documentFormat(documents.textFormat, file.name);
  if (format === undefined) {
    return { text: checkText(await wholeText(file, MAX_TEXT_BYTES, documents.textFormat), where) };
  }
  const { hasSameWords, readDocumentFile } = await import('./chapters.ts');
  const item = checkSpoken(await readDocumentFile(file, format, documents), where);
  if (format !== 'markdown') return item;
  // Markdown without any markup is sent unchanged: the journals of earlier versions contain this request.
  const written = await wholeText(file, Infinity);
  if (hasSameWords(written, item.text)) return { text: checkText(written, where) };
  return countCodePoints(written) > TEXT_MAX_CHARACTERS ? item : { ...item, rawText: written };
}

async function givenText(
  text: string,
  where: string,
  { code, dropSounds, signal, textFormat }: Documents,
): Promise<ItemText> {
  const format = documentFormat(textFormat, undefined);
  if (format === undefined) return { text: checkText(text, where) };
  const { extractDocument } = await import('../../speech/document-source.ts');
  const parts = await extractDocument(where, format, Buffer.from(text), {
    code,
    dropSounds,
    signal,
  });
  return checkSpoken(parts, where);
}

function checkSpoken(parts: readonly SpokenText[], where: string): ItemText {
  const spoken = joinSpoken(parts, '\n\n');
  return { text: checkText(spoken.text, where), spoken };
}

function checkText(text: string, where: string, limit = TEXT_MAX_CHARACTERS): string {
  if (text.trim() === '') throw usageFailure(`${where} is empty`, 'Remove it, or add text.');
  if (HALF_PAIR.test(text)) {
    throw usageFailure(
      `${where} contains an unpaired surrogate (UTF-16), which is not a character`,
    );
  }
  const characters = countCodePoints(text);
  if (characters <= limit) return text;
  throw usageFailure(
    `${where} has ${characters} characters; one request allows at most ${limit}`,
    'Split it into parts.',
  );
}

const HALF_PAIR = /\p{Cs}/u;
