import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import { removeQuietly } from '../../files/debris.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import { ensurePrivateFolder, readOwnText, SMALL_FILE_BYTES } from '../../files/own-files.ts';
import { replaceFile } from '../../files/replace-file.ts';

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

const NAME = 'unfinished';

async function namesIn(folder: string, files: FileSystem): Promise<string[]> {
  return files.readdir(folder).catch(() => []);
}

/** Undefined when the note is damaged, or the folder is not there any more. */
async function folderIn(file: string, files: FileSystem): Promise<string | undefined> {
  try {
    const note: unknown = JSON.parse(await readOwnText(file, SMALL_FILE_BYTES, files));
    if (typeof note !== 'object' || note === null || !('folder' in note)) return undefined;
    const { folder } = note;
    return typeof folder === 'string' && (await files.stat(folder)).isDirectory()
      ? folder
      : undefined;
  } catch {
    return undefined;
  }
}
