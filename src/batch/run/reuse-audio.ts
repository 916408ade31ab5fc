import type { Stats } from 'node:fs';
import path from 'node:path';
import { checksumOf } from '../../durable/checksum.ts';
import { copyIntoNew } from '../../durable/spool.ts';
import { removeQuietly, randomHex } from '../../durable/files.ts';
import type { FileDeps } from '../../durable/files.ts';
import { UNSUPPORTED, hasErrno, outputFailure } from '../../durable/file-failures.ts';
import { commitRename } from '../../durable/publish.ts';
import type { Output } from '../../durable/output.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import type { JournalIndex, KnownFile, ItemFacts, ItemStatus } from '../journal/journal.ts';
import { captionNames } from './aligned-speaker.ts';
import type { OutputFolders } from './publish-audio.ts';
import { openFor } from './publish-audio.ts';

export interface AudioLookup extends Pick<FileDeps, 'files'> {
  readonly outputDir: string;
  readonly index: JournalIndex;
  /** Where replaced audio is kept. */
  readonly kept: string;
  /** The further files of an item, by its output. */
  readonly besides: (output: string) => readonly string[];
}

export interface ReuseOptions extends AudioLookup, FileDeps {
  readonly folder: Pick<BatchFolder, 'isAlone' | 'notePublished' | 'noteReused' | 'temporaries'>;
  readonly folders: OutputFolders;
}

/** Where audio goes that is in the folder already. */
export interface ReuseTarget {
  readonly output: string;
  /** Nothing was there when the batch looked; whoever takes the name meanwhile keeps it. */
  readonly isNew: boolean;
  readonly displaced: KnownFile | undefined;
}

/** Moves and copies audio that was paid for, so that it is never spoken again and never lost. */
export interface AudioReuse {
  /**
   * Gives an output the audio of a purchase, with its captions. At any moment each name holds one whole file.
   * Undefined when the audio is not in the folder any more.
   * @throws Failure (output, exists)
   */
  place(status: ItemStatus, target: ReuseTarget): Promise<ItemStatus | undefined>;
  /**
   * Keeps the audio at an output that is about to be replaced, unless another output holds it.
   * @throws Failure (output)
   */
  keepAside(output: string, audio: KnownFile): Promise<void>;
  /** Removes what was kept and is at an output again. Never throws. */
  tidy(): Promise<void>;
}

/** Whether the audio of a purchase, with the captions that are asked for, is in the folder apart from an output. */
export async function isInFolder(
  { facts }: ItemStatus,
  output: string,
  lookup: AudioLookup,
): Promise<boolean> {
  const first = await candidates(facts, output, lookup).next();
  return first.done !== true;
}

/** A file that should hold the audio. */
interface Candidate {
  readonly path: string;
  readonly isKept: boolean;
  /** No other name leads to the same file. */
  readonly isOnly: boolean;
}

async function* candidates(
  { bytes, sha256 }: ItemFacts,
  output: string | undefined,
  lookup: AudioLookup,
): AsyncGenerator<Candidate, void, undefined> {
  if (sha256 === undefined || bytes === undefined) return;
  const kept = path.join(lookup.kept, sha256);
  const stats = await statsOf(kept, lookup);
  if (stats?.size === bytes && (await hasBesides(kept, lookup))) {
    yield { path: kept, isKept: true, isOnly: stats.nlink === 1 };
  }
  for (const other of lookup.index.outputsOf(sha256)) {
    if (other === output) continue;
    const file = path.join(lookup.outputDir, other);
    if (
      (await isFile(file, { sha256, bytes }, other, lookup)) &&
      (await hasBesides(file, lookup))
    ) {
      yield { path: file, isKept: false, isOnly: false };
    }
  }
}

async function isFile(
  file: string,
  { bytes, sha256 }: Pick<KnownFile, 'bytes' | 'sha256'>,
  output: string,
  lookup: AudioLookup,
): Promise<boolean> {
  const stats = await statsOf(file, lookup);
  if (stats?.size !== bytes) return false;
  const known = lookup.index.filesAt(output)?.filter(({ mtimeMs }) => mtimeMs === stats.mtimeMs);
  const untouched = known?.filter((one) => one.bytes === bytes) ?? [];
  if (untouched.length === 1) return untouched[0]?.sha256 === sha256;
  return (await digestOf(file, lookup)) === sha256;
}

async function hasBesides(file: string, lookup: AudioLookup): Promise<boolean> {
  for (const beside of lookup.besides(file)) {
    if ((await statsOf(beside, lookup)) === undefined) return false;
  }
  return true;
}

/** Of a regular file; undefined for anything else. */
async function statsOf(file: string, { files }: AudioLookup): Promise<Stats | undefined> {
  const stats = await files.lstat(file).catch(() => undefined);
  return stats?.isFile() === true ? stats : undefined;
}

function digestOf(file: string, { files }: AudioLookup): Promise<string | undefined> {
  return checksumOf(file, 'sha256', files).catch(() => undefined);
}

export function createAudioReuse(options: ReuseOptions): AudioReuse {
  return new Reuse(options);
}

class Reuse implements AudioReuse {
  readonly #options: ReuseOptions;

  constructor(options: ReuseOptions) {
    this.#options = options;
  }

  async place(status: ItemStatus, target: ReuseTarget): Promise<ItemStatus | undefined> {
    const { besides, files, folder, folders, outputDir } = this.#options;
    const file = path.join(outputDir, target.output);
    await folders.useFor(file);
    const names = besides(target.output);
    const given = names.length === 0 ? {} : { besides: names };
    // Killed right after it got its name, it would be a stranger's to a run of an edited list.
    const noted = await folder.noteReused(status, { output: target.output, ...given });
    // The process of another share may have put aside what it was copied from.
    const isPlaced =
      (await this.#placeFrom(status, target)) || (await this.#placeFrom(status, target));
    if (!isPlaced) return undefined;
    if (noted.about === undefined) return noted;
    const { mtimeMs, size } = await files.stat(file);
    const { sha256 } = status.facts;
    const facts = { bytes: size, mtimeMs, ...(sha256 === undefined ? {} : { sha256 }) };
    return folder.notePublished(noted, facts);
  }

  async #placeFrom(status: ItemStatus, target: ReuseTarget): Promise<boolean> {
    for await (const found of candidates(status.facts, target.output, this.#options)) {
      const isMoved = found.isKept && found.isOnly;
      const isPlaced = isMoved
        ? await this.#move(found.path, status, target)
        : await this.#copy(found, status, target);
      if (isPlaced) return true;
    }
    return false;
  }

  async keepAside(output: string, audio: KnownFile): Promise<void> {
    const { folder, kept, outputDir } = this.#options;
    const file = path.join(outputDir, output);
    // The process of another share may be about to replace that one.
    if (folder.isAlone && (await this.#isElsewhere(output, audio))) return;
    try {
      await ensurePrivateFolder(kept, this.#options.files);
      const to = path.join(kept, audio.sha256);
      for (const [from, name] of await this.#captionsOf(output, file, to)) {
        await this.#linkOrCopy(from, name);
      }
      await this.#linkOrCopy(file, to);
    } catch (error) {
      throw outputFailure(kept, error, 'writing', '--output-dir');
    }
  }

  async tidy(): Promise<void> {
    const { files, folder, kept } = this.#options;
    if (!folder.isAlone) return;
    const names = await files.readdir(kept).catch((): string[] => []);
    for (const name of names.filter((one) => HASH.test(one))) {
      const stats = await statsOf(path.join(kept, name), this.#options);
      const audio = { sha256: name, bytes: stats?.size ?? -1 };
      if (await this.#isElsewhere(undefined, audio)) {
        const all = names.filter((one) => one.startsWith(name));
        for (const one of all) await removeQuietly(path.join(kept, one), this.#options);
      }
    }
    const captions = names.filter(
      (one) => !HASH.test(one) && !names.includes(path.parse(one).name),
    );
    for (const one of captions) await removeQuietly(path.join(kept, one), this.#options);
  }

  /** Whether an output other than this one holds the audio, and the captions that are asked for. */
  async #isElsewhere(
    output: string | undefined,
    audio: Pick<KnownFile, 'bytes' | 'sha256'>,
  ): Promise<boolean> {
    for await (const { isKept } of candidates(audio, output, this.#options)) {
      if (!isKept) return true;
    }
    return false;
  }

  /** Captions that the batch wrote beside an output, and the names under which they are kept. */
  async #captionsOf(output: string, file: string, to: string): Promise<[string, string][]> {
    const { index } = this.#options;
    const [names, from, kept] = [output, file, to].map((name) => captionNames(name, ALL_CAPTIONS));
    const pairs: [string, string][] = [];
    for (const [at, name] of (names ?? []).entries()) {
      const there = from?.[at] ?? '';
      const isOurs = index.filesAt(name) !== undefined;
      if (isOurs && (await statsOf(there, this.#options)) !== undefined) {
        pairs.push([there, kept?.[at] ?? '']);
      }
    }
    return pairs;
  }

  async #linkOrCopy(from: string, to: string): Promise<void> {
    const { files, folder } = this.#options;
    try {
      await files.link(from, to);
    } catch (error) {
      if (hasErrno(error, 'EEXIST')) return;
      if (!hasErrno(error, 'EACCES', 'EXDEV', 'EMLINK', ...UNSUPPORTED)) throw error;
      const temporary = path.join(folder.temporaries, randomHex(this.#options, 12));
      const copy = await copyIntoNew(from, temporary, this.#options);
      await copy.close();
      await files.rename(temporary, to);
    }
  }

  /** Gives a kept file its name back. */
  async #move(from: string, { facts }: ItemStatus, target: ReuseTarget): Promise<boolean> {
    const digest = await digestOf(from, this.#options);
    if (digest !== facts.sha256) {
      // What could not be read may be the only copy.
      if (digest !== undefined) await removeQuietly(from, this.#options);
      return false;
    }
    await this.#displace(target);
    await this.#nameCaptions(from, target);
    await this.#rename(from, path.join(this.#options.outputDir, target.output), target.isNew);
    return true;
  }

  /** A copy of its own: two names of one file would both change when either is edited. */
  async #copy(
    { isKept, path: from }: Candidate,
    { facts }: ItemStatus,
    target: ReuseTarget,
  ): Promise<boolean> {
    const { kept, outputDir } = this.#options;
    const file = path.join(outputDir, target.output);
    return this.#copyTo({ from, file, isNew: target.isNew }, async (sha256) => {
      if (sha256 === undefined || sha256 !== facts.sha256) return false;
      await this.#displace(target);
      await this.#nameCaptions(from, target);
      // Audio is put aside before its captions are replaced: these were still its own.
      return isKept || (await statsOf(path.join(kept, sha256), this.#options)) === undefined;
    });
  }

  /** @param check asked, with the hash of what was copied, before the copy gets its name */
  async #copyTo(
    {
      file,
      from,
      isNew,
    }: { readonly file: string; readonly from: string; readonly isNew: boolean },
    check: (sha256: string | undefined) => Promise<boolean>,
  ): Promise<boolean> {
    const { files, folder, folders } = this.#options;
    const source = await files.open(from, 'r').catch(() => undefined);
    if (source === undefined) return false;
    const place = { file, folders, temporaries: folder.temporaries, isNew };
    let output: Output | undefined;
    try {
      output = await openFor(place, this.#options);
      const { atime, mtime } = await source.stat();
      for await (const chunk of source.createReadStream({ autoClose: false })) {
        await output.write(chunk);
      }
      if (!(await check(await output.checksum()))) return false;
      await output.publish();
      // By its time a report knows the sound again.
      const copy = await files.open(file, 'r+').catch(() => undefined);
      await copy?.utimes(atime, mtime).catch(() => undefined);
      await copy?.close();
      return true;
    } catch (error) {
      throw outputFailure(file, error, 'writing', '--output-dir');
    } finally {
      await source.close().catch(() => undefined);
      await output?.abandon();
    }
  }

  async #displace({ displaced, output }: ReuseTarget): Promise<void> {
    if (displaced !== undefined) await this.keepAside(output, displaced);
  }

  /** The captions get their names before the audio: where that is, they are. */
  async #nameCaptions(from: string, { output }: ReuseTarget): Promise<void> {
    const { besides, outputDir } = this.#options;
    const names = besides(path.join(outputDir, output));
    for (const [at, caption] of besides(from).entries()) {
      await this.#copyTo({ from: caption, file: names[at] ?? '', isNew: false }, async () => true);
    }
  }

  async #rename(from: string, to: string, isNew: boolean): Promise<void> {
    const existing = isNew ? 'refuse' : 'replace';
    const naming = {
      ...this.#options,
      path: to,
      asked: to,
      existing,
      replaced: undefined,
    } as const;
    await commitRename(from, naming).catch((error: unknown) => {
      throw outputFailure(to, error, 'writing', '--output-dir');
    });
  }
}

const HASH = /^[0-9a-f]{64}$/;
const ALL_CAPTIONS = ['srt', 'vtt', 'json'] as const;
