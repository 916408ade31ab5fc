import path from 'node:path';
import type { Stats } from 'node:fs';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { checksumOf } from '../../files/checksum.ts';
import { hasErrno } from '../../files/errno.ts';
import { containedPath } from '../../files/names.ts';
import { outputFailure } from '../../files/output-failures.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { display } from '../../text/display.ts';
import type { JournalIndex, KnownFile } from '../journal/journal-index.ts';
import { foldedName } from '../plan/name-template.ts';
import type { ItemFacts } from '../journal/records.ts';
import type { BatchItem } from '../plan/plan.ts';

/** What lies at the output of an item. */
export type OutputState =
  | { readonly kind: 'missing' }
  /** A file that this batch made, as it made it. */
  | { readonly kind: 'known'; readonly file: KnownFile }
  /** The batch was about to put a file here; what became of it is not written down. */
  | { readonly kind: 'ours' }
  /** Nothing that the batch made. */
  | { readonly kind: 'foreign' };

/** Looks at outputs; a folder with many of them is read once. */
export interface OutputLook {
  /**
   * @param audio what the item's audio is, which is its own also where somebody else put it
   * @throws Failure (usage, output) for a folder in its place, or a link that leads out
   */
  at(
    item: Pick<BatchItem, 'output' | 'source'>,
    audio?: Pick<ItemFacts, 'bytes' | 'sha256'>,
  ): Promise<OutputState>;
}

export interface LookOptions {
  readonly outputDir: string;
  readonly index: JournalIndex;
  readonly files: FileSystem;
}

export function createOutputLook(options: LookOptions): OutputLook {
  const { files, outputDir } = options;
  const folders = new Map<string, Promise<ReadonlySet<string>>>();
  const inside = new Map<string, Promise<string>>();
  /** Whether no link leads out of the output folder on the way; looked at once. */
  const isInside = (folder: string): Promise<string> => {
    if (folder === '.') return Promise.resolve(outputDir);
    const known = inside.get(folder) ?? containedPath(outputDir, folder, files);
    inside.set(folder, known);
    return known;
  };
  const namesIn = (folder: string): Promise<ReadonlySet<string>> => {
    const known = folders.get(folder) ?? readNames(path.join(outputDir, folder), files);
    folders.set(folder, known);
    return known;
  };
  return {
    async at({ output, source }, audio) {
      await isInside(path.posix.dirname(output));
      const names = await namesIn(path.posix.dirname(output));
      if (!names.has(foldedName(path.posix.basename(output)))) return { kind: 'missing' };
      const file = path.join(outputDir, output);
      const stats = await statsOf(outputDir, output, files);
      if (stats === undefined) return { kind: 'missing' };
      if (stats.isDirectory()) {
        throw usageFailure(`${source}: its output ${display(file)} is a folder`);
      }
      const state = await compare(file, stats, options.index.filesAt(output), files);
      if (state.kind === 'known' || !stats.isFile()) return state;
      const { bytes, sha256 } = audio ?? {};
      if (sha256 === undefined || bytes !== stats.size) return state;
      const isIts = (await digestOf(file, files)) === sha256;
      return isIts ? { kind: 'known', file: { sha256, bytes, mtimeMs: undefined } } : state;
    },
  };
}

/** Folded, since the system may write a name in another way than ours. */
async function readNames(folder: string, files: FileSystem): Promise<ReadonlySet<string>> {
  try {
    return new Set((await files.readdir(folder)).map((name) => foldedName(name)));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return new Set();
    throw outputFailure(folder, error, 'opening', '--output-dir');
  }
}

/** Of what a link leads to, when that is not outside. */
async function statsOf(
  outputDir: string,
  output: string,
  files: FileSystem,
): Promise<Stats | undefined> {
  const file = path.join(outputDir, output);
  try {
    const stats = await files.lstat(file);
    if (!stats.isSymbolicLink()) return stats;
    return await files.stat(await containedPath(outputDir, output, files));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw outputFailure(file, error, 'opening', '--output-dir');
  }
}

async function compare(
  file: string,
  stats: Stats,
  known: readonly KnownFile[] | undefined,
  files: FileSystem,
): Promise<OutputState> {
  if (known === undefined || !stats.isFile()) return { kind: 'foreign' };
  if (known.length === 0) return { kind: 'ours' };
  const sized = known.filter(({ bytes }) => bytes === stats.size);
  const untouched = sized.find(({ mtimeMs }) => mtimeMs === stats.mtimeMs);
  if (untouched !== undefined) return { kind: 'known', file: untouched };
  if (sized.length === 0) return { kind: 'foreign' };
  const digest = await digestOf(file, files);
  const same = sized.find(({ sha256 }) => sha256 === digest);
  return same === undefined ? { kind: 'foreign' } : { kind: 'known', file: same };
}

function digestOf(file: string, files: FileSystem): Promise<string> {
  return checksumOf(file, 'sha256', files).catch((error: unknown) => {
    throw outputFailure(file, error, 'opening', '--output-dir');
  });
}

/** An output that is not the batch's own and may not be replaced: exit 31. */
export function foreignOutput({ output, source }: Pick<BatchItem, 'output' | 'source'>): Failure {
  return new Failure(
    `${source}: its output ${display(output)} exists already, and not as this batch made it`,
    {
      code: 'exists',
      exit: 'exists',
      hint: 'Move it away, or allow it to be replaced with --overwrite. Nothing was sent.',
    },
  );
}
