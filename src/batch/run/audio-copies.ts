import path from 'node:path';
import type { AssStyle } from '../../captions/ass-style.ts';
import type { CaptionContent, CaptionFormat } from '../../captions/caption-files.ts';
import { CAPTION_FORMATS } from '../../captions/cue-shape.ts';
import { checksumOf, sha256 as sha256Of } from '../../durable/checksum.ts';
import type { System } from '../../system/system.ts';
import { orphanedTemporaries, randomHex, removeQuietly } from '../../durable/files.ts';
import { requireSpace } from '../../durable/free-space.ts';
import type { Output } from '../../durable/output.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';
import { openOutput } from '../../durable/publish.ts';
import { openRegularFile } from '../../durable/regular-file.ts';
import { copyIntoNew } from '../../durable/spool.ts';
import type { FileHandle, FileSystem } from '../../system/file-system.ts';
import type { PurchaseMetadata } from '../../paid/purchase.ts';
import type { CaptionOptions } from './batch-options.ts';
import { captionNames } from './item-captions.ts';

/**
 * Stores copies of captioned audio in the state folder, because the service sends such audio only once. The name of a
 * copy is `HASH OF THE AUDIO-HASH OF THE CAPTIONS`; a copy that does not match its name is not used.
 */
export class AudioCopies {
  readonly #system: System;
  readonly #folder: string;
  readonly #formats: readonly CaptionFormat[];
  readonly #assStyle: AssStyle | undefined;
  #names: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  // Size of all copies of all batches, and of the copies that are being made.
  #bytes: Promise<number> | undefined;
  #added = 0;

  /**
   * @param copyFolder the folder of this batch inside the state folder
   * @param captions the caption files that this command writes
   */
  constructor(system: System, copyFolder: string, captions: CaptionOptions | undefined) {
    this.#system = system;
    this.#folder = path.join(copyFolder, FOLDER);
    this.#formats = captions?.formats ?? [];
    this.#assStyle = captions?.assStyle;
  }

  /** Yields the copies of an audio file whose captions are complete and unchanged. The caller checks the audio. */
  async *find({ bytes, sha256 = '' }: PurchaseMetadata): AsyncGenerator<string, void, undefined> {
    const { files } = this.#system;
    this.#names ??= this.#list();
    for (const name of (await this.#names).get(sha256) ?? []) {
      const file = path.join(this.#folder, name);
      const stats = await files.lstat(file).catch(() => undefined);
      if (stats?.isFile() !== true || stats.size !== bytes) continue;
      const sums = await this.#captionSums(file, CAPTION_FORMATS);
      const hasAll = this.#formats.every((format) => sums.has(format));
      if (hasAll && name === nameOf(sha256, sums)) yield file;
    }
  }

  /**
   * Copies an output file and its captions. Removes the oldest copies of all batches above 1 GiB. Never throws: without
   * a copy, the output is the only file.
   */
  async add(file: string, { bytes = 0, sha256 = '' }: PurchaseMetadata): Promise<void> {
    const { files } = this.#system;
    const formats = this.#formats;
    if (formats.length === 0) return;
    try {
      const sums = await this.#captionSums(file, formats);
      const copy = path.join(this.#folder, nameOf(sha256, sums));
      if (await isFile(copy, files)) return;
      await ensurePrivateFolder(this.#folder, files);
      if (!(await this.#makeSpace(bytes))) return;
      const captions = captionNames(copy, formats);
      for (const [at, from] of captionNames(file, formats).entries()) {
        await this.#copy(from, captions[at] ?? '');
      }
      await this.#copy(file, copy);
    } catch {
      // For example, the disk is full.
    }
  }

  /**
   * Saves verified audio that could not get its final name, with its captions, as the copy of an output. Returns whether
   * it is saved. Never throws.
   */
  async save(output: Output, content: CaptionContent, facts: PurchaseMetadata): Promise<boolean> {
    const released = await output.release();
    if (released === undefined) return false;
    const { file, path: temporary } = released;
    try {
      return await this.keep(file ?? temporary, content, facts);
    } finally {
      await file?.close().catch(() => undefined);
      await removeQuietly(this.#system, temporary);
    }
  }

  /**
   * Copies audio that is complete, as the service sent it, with its captions. Returns whether it is saved. Never throws.
   * @param audio the path of the audio, or the open file, which stays open
   */
  async keep(
    audio: FileHandle | string,
    content: CaptionContent,
    facts: PurchaseMetadata,
  ): Promise<boolean> {
    const { files, random } = this.#system;
    const formats = this.#formats;
    const assStyle = this.#assStyle;
    const temporary = path.join(this.#folder, `saved-${randomHex(random, 12)}`);
    try {
      await ensurePrivateFolder(this.#folder, files);
      const copy = await copyIntoNew(audio, temporary, files);
      await copy.close();
      const names = captionNames(temporary, formats);
      const targets = formats.map((format, at) => ({ format, path: names[at] ?? '', assStyle }));
      const { writeCaptions } = await import('../../captions/caption-files.ts');
      await writeCaptions(content, { system: this.#system, targets });
      await this.add(temporary, facts);
      this.#names = undefined;
      const sums = await this.#captionSums(temporary, formats);
      return await isFile(path.join(this.#folder, nameOf(facts.sha256 ?? '', sums)), files);
    } catch {
      return false;
    } finally {
      for (const file of [temporary, ...captionNames(temporary, formats)]) {
        await removeQuietly(this.#system, file);
      }
    }
  }

  async #list(): Promise<ReadonlyMap<string, readonly string[]>> {
    const listed = new Map<string, string[]>();
    const names = await this.#system.files.readdir(this.#folder).catch((): string[] => []);
    for (const name of names) {
      const [, sha256] = COPY_NAME.exec(name) ?? [];
      if (sha256 === undefined) continue;
      listed.set(sha256, [...(listed.get(sha256) ?? []), name]);
    }
    return listed;
  }

  async #captionSums(
    file: string,
    formats: readonly CaptionFormat[],
  ): Promise<ReadonlyMap<CaptionFormat, string>> {
    const sums = new Map<CaptionFormat, string>();
    for (const format of formats) {
      const [name = ''] = captionNames(file, [format]);
      const sum = await checksumOf(name, 'sha256', this.#system.files).catch(() => undefined);
      if (sum !== undefined) sums.set(format, sum);
    }
    return sums;
  }

  async #copy(from: string, to: string): Promise<void> {
    const source = await openRegularFile(from, this.#system.files);
    let output: Output | undefined;
    try {
      output = await openOutput(this.#system, { path: to, isFolderSyncedLater: true });
      for await (const chunk of source.createReadStream({ autoClose: false })) {
        await output.write(chunk);
      }
      await output.publish();
    } finally {
      await source.close().catch(() => undefined);
      await output?.abandon();
    }
  }

  // Returns whether the copies have space for this number of bytes. Counts them as used.
  async #makeSpace(bytes: number): Promise<boolean> {
    const { files } = this.#system;
    if (bytes > MAX_BYTES) return false;
    const wanted = { files, what: 'the copies need', variable: 'XDG_STATE_HOME' };
    await requireSpace(this.#folder, bytes + SPARE_BYTES, wanted);
    this.#bytes ??= this.#limit(MAX_BYTES);
    this.#added += bytes;
    if ((await this.#bytes) + this.#added > MAX_BYTES) {
      // Makes space for several copies, because each listing of the folders takes time.
      this.#added = bytes;
      this.#bytes = this.#limit(Math.min(MAX_BYTES - bytes, MAX_BYTES * 0.9));
      await this.#bytes;
    }
    return true;
  }

  // Removes the oldest copies of all batches above this size, and returns the size of the others.
  async #limit(maxBytes: number): Promise<number> {
    const { files } = this.#system;
    const copies: { file: string; size: number; mtimeMs: number }[] = [];
    const batches = path.dirname(path.dirname(this.#folder));
    for (const batch of await files.readdir(batches)) {
      const folder = path.join(batches, batch, FOLDER);
      const orphans = await orphanedTemporaries(this.#system, folder);
      for (const orphan of orphans) await removeQuietly(this.#system, orphan);
      for (const name of await files.readdir(folder).catch((): string[] => [])) {
        const file = path.join(folder, name);
        const stats = await files.lstat(file).catch(() => undefined);
        if (stats?.isFile() !== true) continue;
        const { mtimeMs, size } = stats;
        copies.push({ file, mtimeMs, size });
      }
    }
    let bytes = copies.reduce((sum, { size }) => sum + size, 0);
    for (const { file, size } of copies.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= maxBytes) break;
      await removeQuietly(this.#system, file);
      bytes -= size;
    }
    return bytes;
  }
}

async function isFile(file: string, files: FileSystem): Promise<boolean> {
  return (await files.lstat(file).catch(() => undefined))?.isFile() === true;
}

const FOLDER = 'audio';
const EARLIER: ReadonlySet<CaptionFormat> = new Set(['srt', 'vtt', 'json']);
const COPY_NAME = /^([0-9a-f]{64})-[0-9a-f]{64}$/;
const MAX_BYTES = 1024 ** 3;
// Other files of foley in the state folder need space, too.
const SPARE_BYTES = 64 * 1024 ** 2;

function nameOf(sha256: string, captions: ReadonlyMap<CaptionFormat, string>): string {
  // Names of copies that earlier versions made state that captions in these formats are missing, but not in others.
  const named = CAPTION_FORMATS.filter((format) => EARLIER.has(format) || captions.has(format));
  const sums = named.map((format) => `${format} ${captions.get(format) ?? ''}`);
  return `${sha256}-${sha256Of(sums.join('\n'))}`;
}
