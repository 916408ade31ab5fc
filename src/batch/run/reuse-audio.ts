import { encodingFor } from '../../audio/encode/encoded-output.ts';
import type { Tags } from '../../audio/encode/tags.ts';
import { isWavFile } from '../../audio/wav-stream.ts';
import type { Stats } from 'node:fs';
import path from 'node:path';
import { CAPTION_FORMATS } from '../../captions/cue-shape.ts';
import { checksumOf } from '../../durable/checksum.ts';
import { copyIntoNew } from '../../durable/spool.ts';
import { removeQuietly, randomHex } from '../../durable/files.ts';
import type { System } from '../../system/system.ts';
import { UNSUPPORTED, hasErrno, outputFailure } from '../../durable/file-failures.ts';
import { commitRename } from '../../durable/publish.ts';
import type { Output, SoundChanges } from '../../durable/output.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';
import { openRegularFile } from '../../durable/regular-file.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import { savedAudioFolder } from '../journal/batch-folder.ts';
import type { JournalIndex, KnownFile, ItemStatus } from '../journal/journal.ts';
import type { PurchaseMetadata } from '../../paid/purchase.ts';
import type { AudioCopies } from './audio-copies.ts';
import type { RerunOptions } from './batch-options.ts';
import { captionNames } from './item-captions.ts';
import { PARTS_FOLDER } from './paused-items.ts';
import type { OutputFolders } from './publish-audio.ts';
import type { OutputPlace } from './publish-audio.ts';

export interface AudioLookup {
  readonly system: System;
  readonly rerun: RerunOptions;
  readonly index: JournalIndex;
  readonly sidecars: (output: string) => readonly string[];
  readonly copies: AudioCopies;
}

/**
 * Returns whether another file than `output` contains the audio of a request and has its caption files. This is a file
 * in the output folder, or a copy in the state folder.
 */
export async function isStoredElsewhere(
  { facts }: ItemStatus,
  output: string,
  lookup: AudioLookup,
): Promise<boolean> {
  const first = await candidates(facts, output, lookup).next();
  return first.done !== true;
}

/**
 * Finds the record of a file by size and modification time. Returns undefined if no record or several records match.
 */
export function unchangedFile(
  known: readonly KnownFile[],
  { mtimeMs, size }: Stats,
): KnownFile | undefined {
  const same = known.filter((file) => file.bytes === size && file.mtimeMs === mtimeMs);
  return same.length === 1 ? same[0] : undefined;
}

interface StoredAudioFile {
  readonly bytes: number;
  readonly sha256: string;
}

interface Candidate {
  readonly path: string;
  readonly isKept: boolean;
  // False if the file has another hard link.
  readonly isOnly: boolean;
}

async function* candidates(
  facts: PurchaseMetadata,
  output: string | undefined,
  lookup: AudioLookup,
): AsyncGenerator<Candidate, void, undefined> {
  const { bytes, sha256 } = facts;
  if (sha256 === undefined || bytes === undefined) return;
  const kept = path.join(savedAudioFolder(lookup.rerun.outputDir), sha256);
  const stats = await statsOf(kept, lookup);
  if (stats?.size === bytes && (await hasSidecars(kept, lookup))) {
    yield { path: kept, isKept: true, isOnly: stats.nlink === 1 };
  }
  for (const other of lookup.index.outputsOf(sha256)) {
    // The audio of a single part is removed when its item is done.
    if (other === output || other.startsWith(`${PARTS_FOLDER}/`)) continue;
    const file = path.join(lookup.rerun.outputDir, other);
    const hasAudio = await isFile(file, { sha256, bytes }, other, lookup);
    if (hasAudio && (await hasSidecars(file, lookup))) {
      yield { path: file, isKept: false, isOnly: false };
    }
  }
  for await (const copy of lookup.copies.find(facts)) {
    yield { path: copy, isKept: true, isOnly: false };
  }
}

async function isFile(
  file: string,
  { bytes, sha256 }: StoredAudioFile,
  output: string,
  lookup: AudioLookup,
): Promise<boolean> {
  const stats = await statsOf(file, lookup);
  if (stats?.size !== bytes) return false;
  const unchanged = unchangedFile(lookup.index.filesAt(output) ?? [], stats);
  return (unchanged?.sha256 ?? (await digestOf(file, lookup))) === sha256;
}

async function hasSidecars(file: string, lookup: AudioLookup): Promise<boolean> {
  for (const sidecar of lookup.sidecars(file)) {
    if ((await statsOf(sidecar, lookup)) === undefined) return false;
  }
  return true;
}

async function statsOf(file: string, { system }: AudioLookup): Promise<Stats | undefined> {
  const stats = await system.files.lstat(file).catch(() => undefined);
  return stats?.isFile() === true ? stats : undefined;
}

function digestOf(file: string, { system }: AudioLookup): Promise<string | undefined> {
  return checksumOf(file, 'sha256', system.files).catch(() => undefined);
}

export interface ReuseTarget {
  readonly output: string;
  /** The changes of the sound of the item; undefined for none. */
  readonly changes?: SoundChanges | undefined;
  /** The tags of the file of the item; undefined for none. */
  readonly tags?: Tags | undefined;
  /**
   * Whether the output did not exist when foley decided what to do with the item. If it was created since, it is not
   * replaced.
   */
  readonly isNew: boolean;
  /**
   * The existing output file, if it contains the audio of another request; undefined otherwise. foley saves this audio
   * before overwriting the file.
   */
  readonly displaced: KnownFile | undefined;
}

/** Moves and copies files with billed audio, so that the audio is neither lost nor billed again. */
export class AudioReuse {
  readonly #lookup: AudioLookup;
  readonly #folder: BatchFolder;
  readonly #folders: OutputFolders;
  readonly #system: System;
  readonly #outputDir: string;
  readonly #kept: string;

  constructor(lookup: AudioLookup, folder: BatchFolder, folders: OutputFolders) {
    this.#lookup = lookup;
    this.#folder = folder;
    this.#folders = folders;
    this.#system = lookup.system;
    this.#outputDir = lookup.rerun.outputDir;
    this.#kept = savedAudioFolder(this.#outputDir);
  }

  /**
   * Moves or copies the audio of a request, with its caption files, to an output file. Returns undefined if the audio
   * is missing.
   * @throws Failure of kind `output` or `exists`
   */
  async place(status: ItemStatus, target: ReuseTarget): Promise<ItemStatus | undefined> {
    const { output } = target;
    const file = path.join(this.#outputDir, output);
    await this.#folders.useFor(file);
    const besides = this.#lookup.sidecars(output);
    // Recorded first, so that a later run with an edited list recognizes a file that a killed run renamed.
    const noted = await this.#folder.noteReused(
      status,
      besides.length === 0 ? { output } : { output, besides },
    );
    // Another shard's process may have moved the file that was copied, so there is a second attempt.
    const isPlaced =
      (await this.#placeFrom(status, target)) || (await this.#placeFrom(status, target));
    if (!isPlaced) return undefined;
    if (noted.about === undefined) return noted;
    const { mtimeMs, size } = await this.#system.files.stat(file);
    const { sha256 } = status.facts;
    const facts = { bytes: size, mtimeMs, ...(sha256 === undefined ? {} : { sha256 }) };
    return this.#folder.notePublished(noted, facts);
  }

  async #placeFrom(status: ItemStatus, target: ReuseTarget): Promise<boolean> {
    for await (const found of candidates(status.facts, target.output, this.#lookup)) {
      const isPlaced =
        found.isKept && found.isOnly && (await this.#remaking(found.path, target)) === undefined
          ? await this.#move(found.path, status, target)
          : await this.#copy(found, status, target);
      if (isPlaced) return true;
    }
    return false;
  }

  /**
   * Saves the audio of an output file that is about to be overwritten, unless another output file has the same audio.
   * @throws Failure of kind `output`
   */
  async keepDisplaced(output: string, audio: KnownFile): Promise<void> {
    const file = path.join(this.#outputDir, output);
    // Another shard's process may be about to replace that output.
    if (this.#folder.isExclusive && (await this.#isElsewhere(output, audio))) return;
    try {
      await ensurePrivateFolder(this.#kept, this.#system.files);
      const to = path.join(this.#kept, audio.sha256);
      for (const [from, name] of await this.#captionsOf(output, file, to)) {
        await this.#linkOrCopy(from, name);
      }
      await this.#linkOrCopy(file, to);
    } catch (error) {
      throw outputFailure(this.#kept, error, 'writing', this.#lookup.rerun.outputFlag);
    }
  }

  /** Deletes saved audio if an output file has the same audio. Does nothing while other shards run. Never throws. */
  async tidy(): Promise<void> {
    if (!this.#folder.isExclusive) return;
    const names = await this.#system.files.readdir(this.#kept).catch((): string[] => []);
    const remove = (name: string) => removeQuietly(this.#system, path.join(this.#kept, name));
    for (const name of names.filter((one) => HASH.test(one))) {
      const stats = await statsOf(path.join(this.#kept, name), this.#lookup);
      const audio = { sha256: name, bytes: stats?.size ?? -1 };
      if (!(await this.#isElsewhere(undefined, audio))) continue;
      for (const one of names.filter((other) => other.startsWith(name))) await remove(one);
    }
    for (const one of names) {
      if (!HASH.test(one) && !names.includes(path.parse(one).name)) await remove(one);
    }
  }

  async #isElsewhere(output: string | undefined, audio: StoredAudioFile): Promise<boolean> {
    for await (const { isKept } of candidates(audio, output, this.#lookup)) {
      if (!isKept) return true;
    }
    return false;
  }

  async #captionsOf(output: string, file: string, to: string): Promise<[string, string][]> {
    const pairs: [string, string][] = [];
    for (const format of CAPTION_FORMATS) {
      const [name = '', from = '', kept = ''] = [output, file, to].flatMap((one) =>
        captionNames(one, [format]),
      );
      const isOurs = this.#lookup.index.filesAt(name) !== undefined;
      if (isOurs && (await statsOf(from, this.#lookup)) !== undefined) pairs.push([from, kept]);
    }
    return pairs;
  }

  async #linkOrCopy(from: string, to: string): Promise<void> {
    const { files, random } = this.#system;
    try {
      await files.link(from, to);
    } catch (error) {
      if (hasErrno(error, 'EEXIST')) return;
      if (!hasErrno(error, 'EACCES', 'EXDEV', 'EMLINK', ...UNSUPPORTED)) throw error;
      const temporary = path.join(this.#folder.temporaries, randomHex(random, 12));
      const copy = await copyIntoNew(from, temporary, files);
      await copy.close();
      await files.rename(temporary, to);
    }
  }

  async #move(from: string, { facts }: ItemStatus, target: ReuseTarget): Promise<boolean> {
    const digest = await digestOf(from, this.#lookup);
    if (digest !== facts.sha256) {
      // An unreadable file may be the only copy.
      if (digest !== undefined) await removeQuietly(this.#system, from);
      return false;
    }
    await this.#prepare(from, target);
    const to = path.join(this.#outputDir, target.output);
    const existing = target.isNew ? 'refuse' : 'replace';
    const naming = { path: to, asked: to, existing, replaced: undefined } as const;
    await commitRename(this.#system, from, naming).catch((error: unknown) => {
      throw outputFailure(to, error, 'writing', this.#lookup.rerun.outputFlag);
    });
    return true;
  }

  // Copies instead of linking, because an edit of one file must not change the other.
  async #copy(
    { isKept, path: from }: Candidate,
    { facts }: ItemStatus,
    target: ReuseTarget,
  ): Promise<boolean> {
    const file = path.join(this.#outputDir, target.output);
    const item = await this.#remaking(from, target);
    return this.#copyTo(from, { file, isNew: target.isNew, item }, async (sha256) => {
      if (sha256 === undefined || sha256 !== facts.sha256) return false;
      await this.#prepare(from, target);
      // If another process has saved this audio meanwhile, the copied captions may already be those of other audio.
      return isKept || (await statsOf(path.join(this.#kept, sha256), this.#lookup)) === undefined;
    });
  }

  // Audio of an item that could not get its name is saved as the service sent it. Changing a sound twice has no effect.
  async #remaking(
    from: string,
    { changes, output, tags }: ReuseTarget,
  ): Promise<OutputPlace['item']> {
    const encoding = encodingFor(output, 'wav') ?? (changes === undefined ? undefined : 'wav');
    if (encoding !== undefined && (await isWavFile(from, this.#system.files))) {
      return { changes, encoding, tags };
    }
    return { tags };
  }

  // `check` gets the hash of the copy before the rename; false discards the copy.
  async #copyTo(
    from: string,
    place: OutputPlace,
    check: (sha256: string | undefined) => Promise<boolean>,
  ): Promise<boolean> {
    const { file } = place;
    const { files } = this.#system;
    const source = await openRegularFile(from, files).catch(() => undefined);
    if (source === undefined) return false;
    let output: Output | undefined;
    try {
      output = await this.#folders.open(place);
      const { atime, mtime } = await source.stat();
      for await (const chunk of source.createReadStream({ autoClose: false })) {
        await output.write(chunk);
      }
      if (!(await check(await output.checksum()))) return false;
      await output.publish();
      // A page report recognizes the audio by its modification time.
      const copy = await files.open(file, 'r+').catch(() => undefined);
      await copy?.utimes(atime, mtime).catch(() => undefined);
      await copy?.close();
      return true;
    } catch (error) {
      throw outputFailure(file, error, 'writing', this.#lookup.rerun.outputFlag);
    } finally {
      await source.close().catch(() => undefined);
      await output?.abandon();
    }
  }

  // Captions must exist before the audio.
  async #prepare(from: string, { displaced, output }: ReuseTarget): Promise<void> {
    const { sidecars } = this.#lookup;
    if (displaced !== undefined) await this.keepDisplaced(output, displaced);
    const names = sidecars(path.join(this.#outputDir, output));
    for (const [at, sidecar] of sidecars(from).entries()) {
      await this.#copyTo(
        sidecar,
        { file: names[at] ?? '', isNew: false, item: {} },
        async () => true,
      );
    }
  }
}

const HASH = /^[0-9a-f]{64}$/;
