import path from 'node:path';
import { Failure } from '../../errors/failure.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { removeQuietly } from '../../durable/files.ts';
import type { FileDeps } from '../../durable/files.ts';
import { ensurePrivateFolder, readOwnText, SMALL_FILE_BYTES } from '../../durable/own-files.ts';
import { replaceFile } from '../../durable/publish.ts';
import { BATCH_FOLDER } from '../plan/name-template.ts';
import { readJournals } from './journal.ts';

/** A note in the state folder that a batch has begun, for `foley recover`. Nothing depends on it. */
export interface UnfinishedMark {
  /** The batch came to its end, as far as it can by itself. */
  remove(): Promise<void>;
}

/**
 * Notes that the batch of a folder has begun. Never throws: where it cannot be noted it is not told.
 * @param copyFolder of this batch in the state folder
 * @param share the name of its lock
 */
export async function markUnfinished(
  { copyFolder, outputDir, share }: { copyFolder: string; outputDir: string; share: string },
  deps: FileDeps,
): Promise<UnfinishedMark> {
  const file = path.join(copyFolder, `${NAME}-${share}.json`);
  try {
    await ensurePrivateFolder(copyFolder, deps.files);
    const folder = await deps.files.realpath(outputDir);
    await replaceFile({
      ...deps,
      path: file,
      data: Buffer.from(`${JSON.stringify({ folder })}\n`),
    });
  } catch {
    // The outputs have their own journal.
  }
  return { remove: () => removeQuietly(file, deps) };
}

/** The output folders of batches that have begun and did not come to their end. Never throws. */
export async function listUnfinished(copies: string, files: FileSystem): Promise<string[]> {
  const folders = new Set<string>();
  for (const batch of await namesIn(copies, files)) {
    const marks = (await namesIn(path.join(copies, batch), files)).filter((name) =>
      name.startsWith(`${NAME}-`),
    );
    for (const mark of marks) {
      const folder = await folderIn(path.join(copies, batch, mark), files);
      if (folder !== undefined) folders.add(folder);
    }
  }
  return [...folders].toSorted();
}

/** A batch that did not come to its end, and whose record cannot be read, or not all of it. */
export interface DamagedBatch {
  /** Of the batch among all that the user ran. */
  readonly name: string;
  /** The note that it has begun. */
  readonly mark: string;
  readonly problem: string;
}

/** The unfinished batches whose note or journal is damaged. Never throws. */
export async function listDamagedBatches(
  copies: string,
  files: FileSystem,
): Promise<readonly DamagedBatch[]> {
  const found: DamagedBatch[] = [];
  for (const name of await namesIn(copies, files)) {
    const copyFolder = path.join(copies, name);
    for (const file of await namesIn(copyFolder, files)) {
      if (!file.startsWith(`${NAME}-`)) continue;
      const mark = path.join(copyFolder, file);
      const problem = await damageOf(mark, copyFolder, files);
      if (problem !== undefined) found.push({ name, mark, problem });
    }
  }
  return found;
}

async function damageOf(
  mark: string,
  copyFolder: string,
  files: FileSystem,
): Promise<string | undefined> {
  const note = await readOwnText(mark, SMALL_FILE_BYTES, files).then(parseFolder, () => undefined);
  if (note === undefined) return 'the name of the output folder of a batch';
  if ((await folderIn(mark, files)) === undefined) return undefined;
  const journals = path.join(note, BATCH_FOLDER, 'journal');
  try {
    const read = await readJournals([copyFolder, journals], files);
    const garbled = read.files.reduce((sum, file) => sum + file.garbled - (file.isTorn ? 1 : 0), 0);
    if (garbled > 0) return `the journal of the batch into ${note}, with ${garbled} damaged lines`;
    if (read.files.length > 0) return undefined;
    return `the mark of the batch into ${note}, whose journal is missing or empty`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `the mark of the batch into ${note}: ${error.message}`;
  }
}

const NAME = 'unfinished';

async function namesIn(folder: string, files: FileSystem): Promise<string[]> {
  return files.readdir(folder).catch(() => []);
}

/** Undefined when the note is damaged, or the folder is not there any more. */
async function folderIn(file: string, files: FileSystem): Promise<string | undefined> {
  try {
    const folder = parseFolder(await readOwnText(file, SMALL_FILE_BYTES, files));
    return folder !== undefined && (await files.stat(folder)).isDirectory() ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** The output folder that a note names; undefined for what is no note. */
function parseFolder(text: string): string | undefined {
  try {
    const note: unknown = JSON.parse(text);
    if (typeof note !== 'object' || note === null || !('folder' in note)) return undefined;
    return typeof note.folder === 'string' ? note.folder : undefined;
  } catch {
    return undefined;
  }
}
