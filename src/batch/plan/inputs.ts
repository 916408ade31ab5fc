import { constants } from 'node:fs';
import path from 'node:path';
import { errnoOf, hasErrno, reasonOf } from '../../durable/file-failures.ts';
import type { FileHandle, FileSystem } from '../../system/file-system.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { createUtf8Decoder, decodeUtf8, TextEncodingError } from '../../text/decode.ts';
import { display } from '../../text/display.ts';
import type { TextFormat } from '../../text/formats/text-formats.ts';
import { DocumentError } from '../../text/formats/document-error.ts';
import { refuseForeign } from '../../text/formats/foreign-formats.ts';
import { documentFormat } from '../../text/formats/text-formats.ts';

interface InputOptions {
  readonly paths: readonly string[];
  readonly lines?: string | undefined;
  readonly jsonl?: string | undefined;
  readonly recursive: boolean;
  readonly textFormat?: TextFormat | undefined;
  // Reads all of an input that can be read only once: stdin (`-`), a pipe, a device.
  readonly readOnce: (name: string) => Promise<InputFile>;
}

export type InputSource =
  | {
      readonly kind: 'text';
      readonly file: InputFile;
      readonly name: string;
      /**
       * Folder that contains the file, relative to the folder given on the command line, with `/` between folders.
       * Empty if the command line names the file itself, or if the file is directly in the given folder.
       */
      readonly dir: string;
      /**
       * The file name without its extension. If several texts have the same name, `dir` precedes it, as in
       * `part-1/intro`.
       */
      readonly title: string;
    }
  | { readonly kind: 'lines'; readonly file: InputFile; readonly name: string }
  | {
      readonly kind: 'csv' | 'jsonl';
      readonly file: InputFile;
      readonly name: string;
      /** Path of the list file; undefined for stdin and pipes. */
      readonly path: string | undefined;
    };

const TABLE_EXTENSIONS = new Set(['.csv', '.tsv']);
const TEXT_EXTENSIONS = ['.txt', '.md', '.docx', '.odt', '.rtf', '.fb2'];
// '' allows names without an extension, such as `README`.
const NAMED_EXTENSIONS = new Set([...TEXT_EXTENSIONS, '.text', '']);

/**
 * Finds the inputs of a batch. The order is: text files, CSV tables, `--lines`, `--jsonl`. A folder supplies its
 * texts and documents with the extensions in `TEXT_EXTENSIONS`, sorted by path.
 * @throws Failure of kind `usage` for a missing file, a file that is not a text, or stdin used twice
 */
export async function findSources(
  options: InputOptions,
  files: FileSystem,
): Promise<InputSource[]> {
  const { jsonl, lines, paths, readOnce, recursive, textFormat } = options;
  if ([...paths, lines, jsonl].filter((name) => name === '-').length > 1) {
    throw usageFailure('stdin is used twice', 'Give one of the inputs as a file.');
  }
  const open = async (name: string): Promise<InputFile> =>
    (await isReadOnce(name, files)) ? readOnce(name) : inputFile(name, files);
  const sources: InputSource[] = [];
  const texts: TextFile[] = [];
  for (const given of paths) {
    const found = given === '-' ? undefined : await textsIn(given, recursive, files);
    if (found !== undefined) texts.push(...found);
    else if (TABLE_EXTENSIONS.has(path.extname(given).toLowerCase())) {
      sources.push({ kind: 'csv', file: await open(given), path: given, name: stemOf(given) });
    } else {
      requireText(given, textFormat);
      texts.push({ path: given, file: await open(given), dir: '' });
    }
  }
  sources.unshift(...titled(texts));
  if (lines !== undefined) {
    sources.push({ kind: 'lines', file: await open(lines), name: stemOf(lines) });
  }
  if (jsonl !== undefined) {
    const place = isStream(jsonl) ? undefined : jsonl;
    sources.push({ kind: 'jsonl', file: await open(jsonl), path: place, name: 'item' });
  }
  if (sources.length > 0) return sources;
  throw usageFailure(
    'there is no text to speak',
    'Name texts or folders, --lines FILE, or --jsonl FILE.',
  );
}

// Only pipes and devices cannot be read several times.
async function isReadOnce(name: string, files: FileSystem): Promise<boolean> {
  if (name === '-') return true;
  // Reading reports the error.
  const stats = await files.stat(name).catch(() => undefined);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

interface TextFile {
  readonly path: string;
  readonly file: InputFile;
  readonly dir: string;
}

// A title is the file name without its extension. If several texts have the same name, the folder comes first.
function titled(texts: readonly TextFile[]): InputSource[] {
  const counts = new Map<string, number>();
  for (const { path: given } of texts) {
    counts.set(stemOf(given), (counts.get(stemOf(given)) ?? 0) + 1);
  }
  return texts.map(({ dir, file, path: given }) => {
    const name = stemOf(given);
    const isShared = (counts.get(name) ?? 0) > 1 && dir !== '';
    return { kind: 'text', file, name, dir, title: isShared ? `${dir}/${name}` : name };
  });
}

async function textsIn(
  given: string,
  isRecursive: boolean,
  files: FileSystem,
): Promise<TextFile[] | undefined> {
  try {
    if (!(await files.stat(given)).isDirectory()) return undefined;
    const names = await textNames(given, isRecursive, files);
    if (names.length === 0) {
      throw usageFailure(
        `the folder ${display(given)} has no texts`,
        'In a folder, only .txt, .md, .docx, .odt, .rtf and .fb2 files count as texts.',
      );
    }
    return names
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((name) => {
        const dir = path.posix.dirname(name);
        const place = path.join(given, name);
        return { path: place, file: inputFile(place, files), dir: dir === '.' ? '' : dir };
      });
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) throw usageFailure(`no such file or folder: ${display(given)}`);
    if (error instanceof Failure || errnoOf(error) === undefined) throw error;
    throw usageFailure(`${display(given)} cannot be read: ${reasonOf(error, given)}`);
  }
}

// Ignores links to folders, because links may form a loop.
async function textNames(
  folder: string,
  isRecursive: boolean,
  files: FileSystem,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of await files.readdir(folder)) {
    // Word marks open documents by files such as `~$letter.docx`.
    if (name.startsWith('.') || name.startsWith('~$')) continue;
    const isFolder = (await files.lstat(path.join(folder, name))).isDirectory();
    if (!isFolder && TEXT_EXTENSIONS.includes(path.extname(name).toLowerCase())) found.push(name);
    if (!isFolder || !isRecursive) continue;
    const below = await textNames(path.join(folder, name), isRecursive, files);
    found.push(...below.map((one) => `${name}/${one}`));
  }
  return found;
}

/**
 * Rejects a file with an extension that is not for texts, such as `.pdf`, because foley would speak its raw content. If
 * the user chose a format with `--text-format`, any extension is accepted.
 * @param where prefix of the error message
 * @throws Failure of kind `usage`
 */
export function requireText(
  name: string,
  textFormat: TextFormat | undefined = 'auto',
  where = '',
): void {
  if (textFormat !== 'auto' || documentFormat('auto', name) !== undefined) return;
  const ending = path.extname(name).toLowerCase();
  // In `chapter.1`, the number is not an extension.
  if (NAMED_EXTENSIONS.has(ending) || /^\.\d+$/.test(ending) || isStream(name)) return;
  const isList = ending === '.jsonl' || ending === '.ndjson';
  throw usageFailure(
    `${where}${display(name)} has the extension ${display(ending)}; a text file must have .txt, .md, .html, .epub, .docx, .odt, .rtf, .fb2, .ssml, .srt or .vtt`,
    isList
      ? `Pass it with --jsonl ${display(name)}.`
      : 'Save the text as .txt, or give --text-format. Tables must be .csv or .tsv files; lists require --lines or --jsonl.',
  );
}

function stemOf(name: string): string {
  if (name === '-') return 'stdin';
  // The shell may use another file descriptor next time, but the items must keep their names.
  return SHELL_PIPE.test(name) ? 'pipe' : path.parse(name).name;
}

function isStream(name: string): boolean {
  return name === '-' || name === '/dev/stdin' || SHELL_PIPE.test(name);
}

const SHELL_PIPE = /^\/(?:dev|proc\/(?:self|\d+))\/fd\/\d+$/;

/** An input whose bytes can be read several times. */
export interface InputFile {
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
}

interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/**
 * Maximum length of a line in an input file, in characters. It is enough for a JSON item with the longest text, even if
 * every character is escaped.
 */
export const MAX_LINE_CHARACTERS = 1 << 20;

/** Returns an input that opens the file on each read. Reading a pipe or a device throws a Failure of kind `usage`. */
export function inputFile(name: string, files: FileSystem): InputFile {
  return {
    name,
    async *open() {
      const handle = await openFile(name, files);
      try {
        // The stream closes the handle, also when it ends early.
        for await (const chunk of handle.createReadStream({ highWaterMark: 1 << 17 })) yield chunk;
      } catch (error) {
        throw unreadable(name, error);
      }
    },
  };
}

async function openFile(name: string, files: FileSystem): Promise<FileHandle> {
  // Does not wait for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const handle = await files.open(name, flags).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  try {
    const stats = await handle.stat();
    if (stats.isFile() || stats.isDirectory()) return handle;
    throw usageFailure(
      `${display(name)} is a pipe or a device, which can be read only once`,
      'Write its content to a file, or name it on the command line.',
    );
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns an input from bytes in memory. */
export function inputBytes(name: string, bytes: Uint8Array): InputFile {
  return {
    name,
    async *open() {
      yield bytes;
    },
  };
}

/**
 * Yields the non-blank lines of a text, without line ends. Holds one line in memory at a time.
 * @throws Failure of kind `usage` if the file cannot be read, is not UTF-8 or has a line that is too long
 */
export async function* linesOf(input: InputFile): AsyncGenerator<NumberedLine, void, undefined> {
  const decoder = createUtf8Decoder();
  let rest = '';
  let number = 0;
  try {
    for await (const chunk of input.open()) {
      const pieces = (rest + decoder.write(chunk)).split('\n');
      rest = pieces.pop() ?? '';
      if (rest.length > MAX_LINE_CHARACTERS) {
        throw usageFailure(
          `${display(input.name)}, line ${number + 1} is longer than ${MAX_LINE_CHARACTERS} characters`,
          'Split it into parts.',
        );
      }
      for (const piece of pieces) {
        number += 1;
        if (piece.trim() !== '') yield { text: withoutReturn(piece), number };
      }
    }
    const last = rest + decoder.end();
    if (last.trim() !== '') yield { text: withoutReturn(last), number: number + 1 };
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/**
 * Reads the entire text of a file.
 * @throws Failure of kind `usage` if the file has more than `maxBytes`, cannot be read, is not UTF-8 or, unless
 * `textFormat` is `plain`, has another format, such as PDF
 */
export async function wholeText(
  input: InputFile,
  maxBytes: number,
  textFormat?: TextFormat,
): Promise<string> {
  try {
    const bytes = await readWhole(input, maxBytes);
    if (textFormat !== 'plain') refuseForeign(undefined, bytes);
    return decodeUtf8(bytes);
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

/**
 * Reads all bytes of a file.
 * @throws Failure of kind `usage` if it has more than `maxBytes`
 */
export async function readWhole(input: InputFile, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input.open()) {
    size += chunk.length;
    if (size > maxBytes) {
      throw usageFailure(
        `${display(input.name)} is longer than one request allows`,
        'Split it into parts.',
      );
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** Converts an error that occurred while reading an input to a Failure. Returns unrelated errors unchanged. */
export function unreadable(name: string, error: unknown): unknown {
  const shown = display(name);
  if (error instanceof TextEncodingError) {
    const { message: encodingProblem } = error;
    return usageFailure(
      `${shown} is ${encodingProblem}`,
      'Save it as UTF-8, or convert it: iconv -f … -t UTF-8.',
    );
  }
  if (error instanceof DocumentError) return usageFailure(`${shown}: ${error.message}`, error.hint);
  if (error instanceof Failure || errnoOf(error) === undefined) return error;
  if (hasErrno(error, 'ENOENT')) return usageFailure(`no such file: ${shown}`);
  if (hasErrno(error, 'EISDIR')) return usageFailure(`${shown} is a folder, not a text file`);
  if (hasErrno(error, 'EACCES')) return usageFailure(`${shown} cannot be read: permission denied`);
  return usageFailure(`${shown} cannot be read: ${reasonOf(error, path.dirname(name))}`);
}
