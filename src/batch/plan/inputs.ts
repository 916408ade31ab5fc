import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { errnoOf, hasErrno } from '../../files/errno.ts';
import { reasonOf } from '../../files/errno-reasons.ts';
import { display } from '../../text/display.ts';
import type { InputFile } from './input-file.ts';
import { inputFile } from './input-file.ts';

/** What the command line names as inputs. */
export interface InputWishes {
  /** Files and folders; `-` is stdin. */
  readonly paths: readonly string[];
  readonly lines?: string | undefined;
  readonly jsonl?: string | undefined;
  /** All of what can be read only once, kept: stdin (`-`), a pipe, a device. */
  readonly readOnce: (name: string) => Promise<InputFile>;
}

/** Where items come from, in the order of the plan. */
export type Source =
  | { readonly kind: 'text'; readonly file: InputFile; readonly name: string }
  | { readonly kind: 'lines'; readonly file: InputFile; readonly name: string }
  /** `path` is where the list is; undefined for stdin. */
  | { readonly kind: 'jsonl'; readonly file: InputFile; readonly path: string | undefined };

const TEXT_ENDINGS = new Set(['.txt', '.md']);

/**
 * The inputs of a batch: files and folders first, as they were given, then `--lines`, then `--jsonl`. In
 * a folder its texts count (`*.txt` and `*.md`, not hidden, not those of folders in it), in the order of
 * their code points, which is the same everywhere.
 * @throws Failure (usage) for what is not there, and for stdin asked for twice
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
  for (const given of paths) {
    const texts = given === '-' ? undefined : await textsIn(given, files);
    if (texts === undefined) {
      sources.push({ kind: 'text', file: await open(given), name: stemOf(given) });
    }
    for (const name of texts ?? []) {
      sources.push({ kind: 'text', file: inputFile(name, files), name: stemOf(name) });
    }
  }
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

/** The texts in a folder; undefined for what is none. */
async function textsIn(given: string, files: FileSystem): Promise<string[] | undefined> {
  try {
    if (!(await files.stat(given)).isDirectory()) return undefined;
    const names = (await files.readdir(given)).filter((name) => isText(name));
    if (names.length === 0) throw emptyFolder(given);
    return names.toSorted((a, b) => (a < b ? -1 : 1)).map((name) => path.join(given, name));
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (hasErrno(error, 'ENOENT'))
      throw usageFailure(`there is no file or folder ${display(given)}`);
    if (errnoOf(error) === undefined) throw error;
    throw usageFailure(`${display(given)} cannot be read: ${reasonOf(error, given)}`);
  }
}

function isText(name: string): boolean {
  return !name.startsWith('.') && TEXT_ENDINGS.has(path.extname(name).toLowerCase());
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
