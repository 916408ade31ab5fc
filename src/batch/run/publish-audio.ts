import path from 'node:path';
import type { AudioResponse, ReusedAudio, SpeechOrder } from '../../api/resources/speech.ts';
import { encodedOutput, taggedOutput } from '../../audio/encode/encoded-output.ts';
import type { Tags } from '../../audio/encode/tags.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import type { FileFormat } from '../../contract/values.ts';
import type { WrittenCaptions } from '../../captions/caption-files.ts';
import { formatRanges } from '../../contract/unspoken.ts';
import { outputFailure } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { syncFolder } from '../../durable/files.ts';
import type { AudibleInterval, Output, SoundChanges } from '../../durable/output.ts';
import { openOutput, openPublishedOutput } from '../../durable/publish.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { deliver } from '../../paid/deliver.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { KeyOf } from '../journal/keys.ts';
import type { PurchaseMetadata } from '../../paid/purchase.ts';
import type { AudioCopy, BoughtSpeech, ReuseStore } from '../../paid/reuse/reuse-store.ts';
import type { BatchItem } from '../plan/plan.ts';

export interface ItemWork {
  readonly item: BatchItem;
  readonly status: ItemStatus;
  readonly file: string;
  /**
   * Whether the file did not exist when foley decided what to do with the item. If it was created since, it is not
   * replaced.
   */
  readonly isNew: boolean;
  /**
   * Called with the cost in credits when the service has made the audio. The audio must still be downloaded or joined.
   */
  readonly onMade?: (creditsUsed: number | undefined) => void;
}

/** An item whose audio has its final name. The caller records that it is published. */
export interface DeliveredItem {
  readonly status: ItemStatus;
  /** Set if at least a part of the audio is reused (`--reuse`). */
  readonly reused?: ReusedAudio | undefined;
  /** Size, checksum and modification time of the file. */
  readonly published: PurchaseMetadata;
  readonly creditsUsed: number | undefined;
  readonly captions?: readonly WrittenCaptions[];
}

/** Speaks the items of a batch, either as jobs or over the aligned stream. */
export interface ItemSpeaker {
  readonly keyOf: KeyOf;
  /** Returns the bytes that identify a billed request. They contain the request body. */
  readonly bodyOf: (order: SpeechOrder) => Uint8Array;
  /** Returns the names of the caption files that belong to an output file. */
  readonly sidecars: (output: string) => readonly string[];
  /**
   * Speaks an item, or resumes an interrupted one, and writes the output file.
   * @throws Failure; the journal then records how to continue
   */
  speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem>;
}

export interface OutputPlace extends Pick<ItemWork, 'file' | 'isNew'> {
  readonly temporaries: string;
  readonly folders: OutputFolders;
  /** The format in which foley encodes the audio, which is wav. Undefined if the audio is written unchanged. */
  readonly encoding?: FileFormat | undefined;
  /** The changes of the sound, which is wav. Undefined if the sound stays unchanged. */
  readonly changes?: SoundChanges | undefined;
  /** The tags of the file; undefined for none. */
  readonly tags?: Tags | undefined;
}

/**
 * Called when the audio is complete and verified. The file is renamed after the returned promise resolves.
 * @param audible the part of the audio that the file will have; undefined for all of it
 */
export type OnVerified = (
  facts: PurchaseMetadata,
  verdict: AudioVerdict,
  audible: AudibleInterval | undefined,
) => Promise<void>;

export interface Publication extends OutputPlace {
  readonly item: Pick<BatchItem, 'changes' | 'encoding' | 'order' | 'tags'>;
  readonly onVerified: OnVerified;
  /** Stores the verified audio for `--reuse`. */
  readonly copy?: AudioCopy | undefined;
}

/** Describes the purchase of an item for `--reuse`. */
export function boughtItem({ order }: Pick<BatchItem, 'order'>, needsWords: boolean): BoughtSpeech {
  return { surface: 'v3', order, needsWords };
}

/** Returns the stored audio of an item (`--reuse`); undefined if there is none, or if `--redo` names the item. */
export async function findReused(
  { item, status }: Pick<ItemWork, 'item' | 'status'>,
  reuse: ReuseStore | undefined,
  needsWords: boolean,
): Promise<AudioResponse | undefined> {
  if (status.about?.redo !== undefined) return undefined;
  return reuse?.find(boughtItem(item, needsWords));
}

/**
 * Writes the audio of a response to an output file.
 * @throws Failure like {@link writeAudio}
 */
export async function publishAudio(
  response: AudioResponse,
  publication: Publication,
  deps: System,
): Promise<PurchaseMetadata> {
  const { changes, encoding, tags } = publication.item;
  const output = await openBatchOutput({ ...publication, changes, encoding, tags }, deps).catch(
    (error: unknown) => {
      response.discard();
      throw error;
    },
  );
  try {
    return await writeAudio(response, output, publication, deps);
  } finally {
    // Does nothing after `publish`.
    await output.abandon();
  }
}

/**
 * Writes the audio of a response to the temporary file of an open output, verifies the audio, and renames the file.
 * After an error, the caller must abandon or release the output.
 * @throws Failure of kind `bad_answer` if the audio is not valid
 * @throws Failure of kind `output` or `exists` if the file cannot be written or renamed
 */
export async function writeAudio(
  response: AudioResponse,
  output: Output,
  publication: Pick<Publication, 'copy' | 'file' | 'item' | 'onVerified'>,
  deps: Pick<System, 'files'>,
): Promise<PurchaseMetadata> {
  const { format, text } = publication.item.order;
  const sink = {
    write: output.write.bind(output),
    refuse: (failure: Error) => Promise.reject(failure),
  };
  const verdict = await deliver(response, format, sink, text, publication.copy);
  for (const correction of verdict.corrections) {
    await output.overwrite(correction.position, correction.bytes);
  }
  return commitAudio(output, publication, { verdict, unspoken: response.unspoken }, deps);
}

/**
 * Calls `onVerified`, then renames the verified audio to its final name.
 * @throws Failure of kind `output` or `exists`
 * @throws any error that `onVerified` throws
 */
export async function commitAudio(
  output: Output,
  { file, onVerified }: Pick<Publication, 'file' | 'onVerified'>,
  audio: {
    readonly verdict: AudioVerdict;
    readonly unspoken: AudioResponse['unspoken'] | undefined;
  },
  { files }: Pick<System, 'files'>,
): Promise<PurchaseMetadata> {
  // A regular file always has a checksum.
  const sha256 = (await output.checksum()) ?? '';
  const { unspoken = [], verdict } = audio;
  const { bytes } = verdict;
  const leftOut = unspoken.length === 0 ? {} : { unspoken: formatRanges(unspoken) };
  await onVerified({ sha256, bytes, ...leftOut }, verdict, await output.audible?.());
  const { bytes: size, encoded } = await output.publish();
  const { mtimeMs } = await files.stat(file);
  const sum = encoded?.checksum ?? sha256;
  return { bytes: size, sha256: sum, mtimeMs, ...leftOut };
}

/**
 * Opens an output file of the batch for writing. `OutputFolders.sync` later syncs the folder of the file to disk.
 * @throws Failure of kind `output`
 */
export async function openBatchOutput(
  { changes, encoding, file, folders, isNew, tags, temporaries }: OutputPlace,
  system: System,
): Promise<Output> {
  await folders.useFor(file);
  const options = {
    path: file,
    temporaryFolder: temporaries,
    isFolderSyncedLater: true,
    checksum: 'sha256' as const,
    flag: folders.flag,
    changes,
    marks: tags && { tags, chapters: () => [] },
    warn: folders.warn,
  };
  const output = isNew
    ? await openPublishedOutput(system, {
        ...options,
        asked: file,
        existing: 'refuse',
        replaced: undefined,
      })
    : await openOutput(system, options);
  if (encoding !== undefined) return encodedOutput(system, output, encoding, options);
  return options.marks === undefined
    ? output
    : taggedOutput(system, output, options.marks, options);
}

/** The folders of the outputs: creates them, and syncs them to the disk. */
export class OutputFolders {
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #files: FileSystem;
  readonly flag: string;
  readonly warn: ((sentence: string) => void) | undefined;

  /**
   * @param flag the flag that sets the output folder; messages name it
   * @param warn called with a sentence about a file that could not get the requested loudness
   */
  constructor(files: FileSystem, flag: string, warn?: (sentence: string) => void) {
    this.#files = files;
    this.flag = flag;
    this.warn = warn;
  }

  /** Creates the folder of an output file, unless an earlier call created it. @throws Failure of kind `output` */
  async useFor(file: string): Promise<void> {
    const folder = path.dirname(file);
    const made = this.#made.get(folder) ?? this.#files.mkdir(folder, { recursive: true });
    this.#made.set(folder, made);
    await made.catch((error: unknown) => {
      // The next item tries again.
      this.#made.delete(folder);
      throw outputFailure(folder, error, 'opening', this.flag);
    });
  }

  /**
   * Syncs all folders to disk. If the power fails before, an output file may be missing. The next `foley batch` then
   * downloads the audio of a job again for free.
   * @throws Failure of kind `output`
   */
  async sync(): Promise<void> {
    for (const folder of this.#made.keys()) {
      await syncFolder(this.#files, folder).catch((error: unknown) => {
        throw outputFailure(folder, error, 'writing', this.flag);
      });
    }
  }
}
