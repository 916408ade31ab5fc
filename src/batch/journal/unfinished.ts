import path from 'node:path';
import { Failure } from '../../errors/failure.ts';
import type { FileSystem } from '../../system/file-system.ts';
import type { System } from '../../system/system.ts';
import { ensurePrivateFolder, readOwnText, SMALL_FILE_BYTES } from '../../durable/own-files.ts';
import { replaceFile } from '../../durable/publish.ts';
import { BATCH_FOLDER, readJournals } from './journal.ts';

const NAME = 'unfinished';

/**
 * Creates a marker file in the state folder, so that `foley recover` finds an unfinished batch. Never throws.
 * @param copyFolder the folder for this batch inside the state folder
 * @param shard `all` for the whole batch, or a shard such as `1-of-4`
 * @returns the path of the marker file, which the caller removes when the batch is done
 */
export async function markUnfinished(
  { copyFolder, outputDir, shard }: { copyFolder: string; outputDir: string; shard: string },
  deps: System,
): Promise<string> {
  const file = path.join(copyFolder, `${NAME}-${shard}.json`);
  try {
    await ensurePrivateFolder(copyFolder, deps.files);
    const folder = await deps.files.realpath(outputDir);
    const data = Buffer.from(`${JSON.stringify({ folder })}\n`);
    await replaceFile(deps, { path: file, data });
  } catch {
    // The output folder has its own journal.
  }
  return file;
}

/** Returns the output folders of unfinished batches. Never throws. */
export async function listUnfinished(copies: string, files: FileSystem): Promise<string[]> {
  const folders = new Set<string>();
  for await (const { mark } of marksIn(copies, files)) {
    const folder = await readMark(mark, files);
    if (folder !== undefined && (await isFolder(folder, files))) folders.add(folder);
  }
  return [...folders].toSorted();
}

export interface DamagedBatch {
  readonly name: string;
  readonly mark: string;
  readonly problem: string;
}

/** Returns the unfinished batches whose marker file or journal is damaged. Never throws. */
export async function listDamagedBatches(
  copies: string,
  files: FileSystem,
): Promise<readonly DamagedBatch[]> {
  const found: DamagedBatch[] = [];
  for await (const { mark, name } of marksIn(copies, files)) {
    const problem = await problemOf(mark, files);
    if (problem !== undefined) found.push({ name, mark, problem });
  }
  return found;
}

async function problemOf(mark: string, files: FileSystem): Promise<string | undefined> {
  const folder = await readMark(mark, files);
  if (folder === undefined) return 'the name of the output folder of a batch';
  if (!(await isFolder(folder, files))) return undefined;
  const journals = [path.dirname(mark), path.join(folder, BATCH_FOLDER, 'journal')];
  try {
    const read = await readJournals(journals, files);
    const garbled = read.files.reduce((sum, file) => sum + file.garbled - (file.isTorn ? 1 : 0), 0);
    if (garbled > 0)
      return `the journal of the batch into ${folder}, with ${garbled} damaged lines`;
    if (read.files.length > 0) return undefined;
    return `the mark of the batch into ${folder}, whose journal is missing or empty`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `the mark of the batch into ${folder}: ${error.message}`;
  }
}

async function* marksIn(
  copies: string,
  files: FileSystem,
): AsyncGenerator<{ readonly name: string; readonly mark: string }, void, undefined> {
  for (const name of await namesIn(copies, files)) {
    for (const file of await namesIn(path.join(copies, name), files)) {
      if (file.startsWith(`${NAME}-`)) yield { name, mark: path.join(copies, name, file) };
    }
  }
}

function namesIn(folder: string, files: FileSystem): Promise<string[]> {
  return files.readdir(folder).catch(() => []);
}

async function readMark(mark: string, files: FileSystem): Promise<string | undefined> {
  try {
    const value: unknown = JSON.parse(await readOwnText(mark, SMALL_FILE_BYTES, files));
    if (typeof value !== 'object' || value === null || !('folder' in value)) return undefined;
    return typeof value.folder === 'string' ? value.folder : undefined;
  } catch {
    return undefined;
  }
}

async function isFolder(folder: string, files: FileSystem): Promise<boolean> {
  const stats = await files.stat(folder).catch(() => undefined);
  return stats?.isDirectory() === true;
}
