import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf, hasErrno, reasonOf } from '../../durable/file-failures.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { createUtf8Decoder, decodeUtf8, TextEncodingError } from '../../text/decode.ts';
import { display } from '../../text/display.ts';

/** What the command line names as inputs. */
interface InputWishes {
  /** Files and folders; `-` is stdin. */
  readonly paths: readonly string[];
  readonly lines?: string | undefined;
  readonly jsonl?: string | undefined;
  /** Whether the folders in a folder count. */
  readonly recursive: boolean;
  /** All of what can be read only once, kept: stdin (`-`), a pipe, a device. */
  readonly readOnce: (name: string) => Promise<InputFile>;
}

/** Where items come from, in the order of the plan. */
export type Source =
  | {
      readonly kind: 'text';
      readonly file: InputFile;
      readonly name: string;
      /** Below the folder that was named, with `/` between folders; empty for none. */
      readonly dir: string;
      /** Its name, with its folder where another text has the same name. */
      readonly title: string;
    }
  | { readonly kind: 'csv'; readonly file: InputFile; readonly path: string; readonly name: string }
  | { readonly kind: 'lines'; readonly file: InputFile; readonly name: string }
  /** `path` is where the list is; undefined for stdin. */
  | { readonly kind: 'jsonl'; readonly file: InputFile; readonly path: string | undefined };

const TEXT_ENDINGS = new Set(['.txt', '.md']);
/** What may be named besides: texts without an ending too, such as README. */
const NAMED_ENDINGS = new Set([...TEXT_ENDINGS, '.text', '.markdown', '']);

/**
 * The inputs of a batch: files and folders first, as they were given, then `--lines`, then `--jsonl`. In
 * a folder its texts count (`*.txt` and `*.md`, not hidden), and those of the folders in it, in the order of
 * the code points of their paths, which is the same everywhere.
 * @throws Failure (usage) for what is not there or is no text, and for stdin asked for twice
 */
export async function findSources(wishes: InputWishes, files: FileSystem): Promise<Source[]> {
  const { jsonl, lines, paths, readOnce } = wishes;
  const wanted = [...paths, lines, jsonl].filter((name) => name === '-');
  if (wanted.length > 1) {
    throw usageFailure('stdin is asked for twice', 'Give one of the inputs as a file.');
  }
  const open = async (name: string): Promise<InputFile> =>
    (await isReadOnce(name, files)) ? readOnce(name) : inputFile(name, files);
  const sources: Source[] = [];
  const texts: TextPlace[] = [];
  for (const given of paths) {
    const found = given === '-' ? undefined : await textsIn(given, wishes.recursive, files);
    if (found !== undefined) texts.push(...found);
    else if (isTable(given)) {
      sources.push({ kind: 'csv', file: await open(given), path: given, name: stemOf(given) });
    } else {
      requireText(given);
      texts.push({ path: given, file: await open(given), dir: '' });
    }
  }
  sources.unshift(...titled(texts, files));
  if (lines !== undefined) {
    sources.push({ kind: 'lines', file: await open(lines), name: stemOf(lines) });
  }
  if (jsonl !== undefined) {
    const place = isNowhere(jsonl) ? undefined : jsonl;
    sources.push({ kind: 'jsonl', file: await open(jsonl), path: place });
  }
  if (sources.length > 0) return sources;
  throw usageFailure(
    'there is nothing to speak',
    'Name texts or folders of them, --lines FILE, or --jsonl FILE.',
  );
}

/** A pipe or a device, as a shell makes one of `<(…)`: a plan goes over its inputs several times. */
async function isReadOnce(name: string, files: FileSystem): Promise<boolean> {
  if (name === '-') return true;
  // What cannot be looked at is told by whoever reads it.
  const stats = await files.stat(name).catch(() => undefined);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

interface TextPlace {
  readonly path: string;
  /** Where it was opened already. */
  readonly file?: InputFile;
  readonly dir: string;
}

/** Texts with what they are called: those that have one name in several folders have those in their titles. */
function titled(texts: readonly TextPlace[], files: FileSystem): Source[] {
  const counts = new Map<string, number>();
  for (const { path: given } of texts) {
    counts.set(stemOf(given), (counts.get(stemOf(given)) ?? 0) + 1);
  }
  return texts.map(({ dir, path: given, file = inputFile(given, files) }) => {
    const name = stemOf(given);
    const isShared = (counts.get(name) ?? 0) > 1 && dir !== '';
    return { kind: 'text', file, name, dir, title: isShared ? `${dir}/${name}` : name };
  });
}

/** The texts in a folder; undefined for what is none. */
async function textsIn(
  given: string,
  isRecursive: boolean,
  files: FileSystem,
): Promise<TextPlace[] | undefined> {
  try {
    if (!(await files.stat(given)).isDirectory()) return undefined;
    const names = await textNames(given, isRecursive, files);
    if (names.length === 0) throw emptyFolder(given);
    return names
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((name) => ({ path: path.join(given, name), dir: folderOf(name) }));
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (hasErrno(error, 'ENOENT'))
      throw usageFailure(`there is no file or folder ${display(given)}`);
    if (errnoOf(error) === undefined) throw error;
    throw usageFailure(`${display(given)} cannot be read: ${reasonOf(error, given)}`);
  }
}

/** Names below a folder. A link to a folder is not followed: it may lead back to where it is. */
async function textNames(
  folder: string,
  isRecursive: boolean,
  files: FileSystem,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of await files.readdir(folder)) {
    if (name.startsWith('.')) continue;
    const isFolder = (await files.lstat(path.join(folder, name))).isDirectory();
    if (!isFolder && isText(name)) found.push(name);
    if (!isFolder || !isRecursive) continue;
    const below = await textNames(path.join(folder, name), isRecursive, files);
    found.push(...below.map((one) => `${name}/${one}`));
  }
  return found;
}

function folderOf(name: string): string {
  const folder = path.posix.dirname(name);
  return folder === '.' ? '' : folder;
}

function isTable(name: string): boolean {
  return path.extname(name).toLowerCase() === '.csv';
}

/**
 * Refuses what would be spoken, and paid for, as it is written.
 * @param name of a file, by whose ending its type is told
 * @throws Failure (usage)
 */
export function requireText(name: string, where = ''): void {
  const ending = path.extname(name).toLowerCase();
  // Of chapter.1 the number is no type.
  if (NAMED_ENDINGS.has(ending) || /^\.\d+$/.test(ending) || name === '-' || isNowhere(name))
    return;
  const isList = ending === '.jsonl' || ending === '.ndjson';
  throw usageFailure(
    `${where}${display(name)} is not a text file: it ends in ${display(ending)}, and texts end in .txt or .md`,
    isList
      ? `Give it as --jsonl ${display(name)}.`
      : 'Save its text as .txt. A table is read from a .csv, a list with --lines or --jsonl.',
  );
}

function isText(name: string): boolean {
  return TEXT_ENDINGS.has(path.extname(name).toLowerCase());
}

function emptyFolder(folder: string): Failure {
  return usageFailure(
    `there is no text in the folder ${display(folder)}`,
    'Texts in it are files that end in .txt or .md.',
  );
}

function stemOf(name: string): string {
  if (name === '-') return 'stdin';
  // The next run goes on with the same items, and the shell may choose another number then.
  return SHELL_PIPE.test(name) ? 'pipe' : path.parse(name).name;
}

/** Nothing lies beside it. */
function isNowhere(name: string): boolean {
  return name === '-' || name === '/dev/stdin' || SHELL_PIPE.test(name);
}

/** What `<(…)` becomes. */
const SHELL_PIPE = /^\/(?:dev|proc\/(?:self|\d+))\/fd\/\d+$/;

/** Bytes that may be read more than once: a plan goes over its inputs several times. */
export interface InputFile {
  /** For messages. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
}

interface NumberedLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** The longest text, every character of it written as an escape, and room for what is around it. */
export const LONGEST_LINE = 1 << 20;

/** A file of the disk; it is opened when it is read, and refused then if it can be read only once. */
export function inputFile(name: string, files: FileSystem): InputFile {
  return {
    name,
    async *open() {
      const handle = await openFile(name, files);
      try {
        // The stream closes the handle, also when it is left early.
        for await (const chunk of handle.createReadStream({ highWaterMark: 1 << 17 })) yield chunk;
      } catch (error) {
        throw unreadable(name, error);
      }
    },
  };
}

/** Without waiting, as the opening of a pipe would, for somebody at its other end. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

async function openFile(name: string, files: FileSystem): Promise<FileHandle> {
  const handle = await files.open(name, AT_ONCE).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  const stats = await handle.stat();
  if (stats.isFile() || stats.isDirectory()) return handle;
  await handle.close();
  throw usageFailure(
    `${display(name)} is a pipe or a device, which can be read only once`,
    'Put what comes out of it into a file, or name it on the command line.',
  );
}

/** What came through a pipe, kept. */
export function inputBytes(name: string, bytes: Uint8Array): InputFile {
  return {
    name,
    async *open() {
      yield bytes;
    },
  };
}

/**
 * The lines of a text that are not blank, without their ends; holds one of them at a time.
 * @throws Failure (usage) for what cannot be read or is not UTF-8, naming the line
 */
export async function* linesOf(input: InputFile): AsyncGenerator<NumberedLine, void, undefined> {
  const decoder = createUtf8Decoder();
  let rest = '';
  let number = 0;
  const numbered = (line: string): NumberedLine | undefined => {
    number += 1;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    return text.trim() === '' ? undefined : { text, number };
  };
  try {
    for await (const chunk of input.open()) {
      const pieces = (rest + decoder.write(chunk)).split('\n');
      rest = pieces.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw tooLong(input, number + 1);
      for (const piece of pieces) {
        const line = numbered(piece);
        if (line !== undefined) yield line;
      }
    }
    const last = numbered(rest + decoder.end());
    if (last !== undefined) yield last;
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

/**
 * The whole text of a small file.
 * @throws Failure (usage)
 */
export async function wholeText(input: InputFile, longestBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input.open()) {
    size += chunk.length;
    // What is longer is longer in characters too; it is not read to its end.
    if (size > longestBytes)
      throw usageFailure(
        `${display(input.name)} is longer than one request takes`,
        'Cut it into parts.',
      );
    parts.push(chunk);
  }
  try {
    return decodeUtf8(Buffer.concat(parts));
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

function tooLong({ name }: InputFile, line: number): Failure {
  return usageFailure(
    `${display(name)}, line ${line} is longer than ${LONGEST_LINE} characters`,
    'Cut it into parts.',
  );
}

/** The failure that an error means which came while an input was read. */
export function unreadable(name: string, error: unknown): unknown {
  if (error instanceof Failure) return error;
  const shown = display(name);
  if (error instanceof TextEncodingError) {
    return usageFailure(
      `${shown} is ${error.message}`,
      'Save it as UTF-8, or convert it: iconv -f … -t UTF-8.',
    );
  }
  switch (errnoOf(error)) {
    case undefined:
      return error;
    case 'ENOENT':
      return usageFailure(`there is no file ${shown}`);
    case 'EISDIR':
      return usageFailure(`${shown} is a folder, not a text file`);
    case 'EACCES':
      return usageFailure(`${shown} may not be read`);
    default:
      return usageFailure(`${shown} cannot be read: ${reasonOf(error, path.dirname(name))}`);
  }
}
