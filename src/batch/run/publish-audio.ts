import path from 'node:path';
import type { AudioResponse, ReusedAudio, SpeechOrder } from '../../api/resources/speech.ts';
import { encodedOutput, taggedOutput } from '../../audio/encode/encoded-output.ts';
import type { Tags } from '../../audio/encode/tags.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';
import type { FileFormat } from '../../contract/values.ts';
import type { WrittenCaptions } from '../../captions/caption-files.ts';
import { outputFailure } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { syncFolder } from '../../durable/files.ts';
import type { Output, SoundChanges } from '../../durable/output.ts';
import { openOutput, openPublishedOutput } from '../../durable/publish.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { publishVerified } from '../../paid/deliver.ts';
import type { SavedFile } from '../../paid/job.ts';
import type { PurchaseMetadata } from '../../paid/purchase.ts';
import type { BoughtSpeech, ReuseStore } from '../../paid/reuse/reuse-store.ts';
import { recordedRanges } from '../../paid/unspoken.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { KeyOf } from '../journal/keys.ts';
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

/** Called when the audio is complete and verified. The file is renamed after the returned promise resolves. */
export type OnVerified = (facts: PurchaseMetadata) => Promise<void>;

/** Describes the purchase of an item for `--reuse`. */
export function boughtItem(order: SpeechOrder, needsWords: boolean): BoughtSpeech {
  return { surface: 'v3', order, needsWords };
}

/** Returns the stored audio of an item (`--reuse`); undefined if there is none, or if `--redo` names the item. */
export async function findReused(
  { item, status }: ItemWork,
  reuse: ReuseStore | undefined,
  needsWords: boolean,
): Promise<AudioResponse | undefined> {
  if (status.about?.redo !== undefined) return undefined;
  return reuse?.find(boughtItem(item.order, needsWords));
}

interface MadeAudio {
  readonly verdict: AudioVerdict;
  readonly unspoken?: readonly CodePointRange[] | undefined;
}

/**
 * Gives a verified output its final name.
 * @param onVerified called before that
 * @throws Failure of kind `output` or `exists`
 * @throws any error that `onVerified` throws
 */
export async function publishItem(
  output: Output,
  file: string,
  { unspoken, verdict }: MadeAudio,
  files: FileSystem,
  onVerified: OnVerified,
): Promise<PurchaseMetadata> {
  const { bytes } = verdict;
  const saved = await publishVerified({ output }, verdict, undefined, (sha256) =>
    onVerified({ sha256, bytes, unspoken: recordedRanges(unspoken) }),
  );
  return publishedFacts(file, { ...saved, unspoken }, files);
}

/** Returns what the journal records about a published file. */
export async function publishedFacts(
  file: string,
  { checksum: sha256, unspoken, verdict: { bytes } }: SavedFile,
  files: FileSystem,
): Promise<PurchaseMetadata> {
  const { mtimeMs } = await files.stat(file);
  return { bytes, sha256, mtimeMs, unspoken: recordedRanges(unspoken) };
}

/** An output file of a batch, and what foley changes in the audio of the service. */
export interface OutputPlace {
  readonly file: string;
  /** Whether the file must not exist yet. */
  readonly isNew: boolean;
  readonly item: {
    readonly changes?: SoundChanges | undefined;
    readonly encoding?: FileFormat | undefined;
    readonly tags?: Tags | undefined;
  };
}

/** The folders of the outputs: creates them, opens files in them, and syncs them to the disk. */
export class OutputFolders {
  readonly #made = new Map<string, Promise<unknown>>();
  readonly system: System;
  /** The folder of files whose content is not complete. */
  readonly temporaries: string;
  readonly #flag: string;
  readonly #warn: ((sentence: string) => void) | undefined;

  /**
   * @param flag the flag that sets the output folder; messages name it
   * @param warn called with a sentence about a file that could not get the requested loudness
   */
  constructor(
    system: System,
    temporaries: string,
    flag: string,
    warn?: (sentence: string) => void,
  ) {
    this.system = system;
    this.temporaries = temporaries;
    this.#flag = flag;
    this.#warn = warn;
  }

  /**
   * Opens an output file for writing. `sync` later syncs the folder of the file to disk.
   * @throws Failure of kind `output`
   */
  async open({ file, isNew, item }: OutputPlace): Promise<Output> {
    const { changes, encoding, tags } = item;
    const { system } = this;
    await this.useFor(file);
    const options = {
      path: file,
      temporaryFolder: this.temporaries,
      isFolderSyncedLater: true,
      checksum: 'sha256' as const,
      flag: this.#flag,
      changes,
      marks: tags && { tags, chapters: () => [] },
      warn: this.#warn,
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

  /** Creates the folder of an output file, unless an earlier call created it. @throws Failure of kind `output` */
  async useFor(file: string): Promise<void> {
    const folder = path.dirname(file);
    const made = this.#made.get(folder) ?? this.system.files.mkdir(folder, { recursive: true });
    this.#made.set(folder, made);
    await made.catch((error: unknown) => {
      // The next item tries again.
      this.#made.delete(folder);
      throw outputFailure(folder, error, 'opening', this.#flag);
    });
  }

  /**
   * Syncs all folders to disk. If the power fails before, an output file may be missing. The next `foley batch` then
   * downloads the audio of a job again for free.
   * @throws Failure of kind `output`
   */
  async sync(): Promise<void> {
    for (const folder of this.#made.keys()) {
      await syncFolder(this.system.files, folder).catch((error: unknown) => {
        throw outputFailure(folder, error, 'writing', this.#flag);
      });
    }
  }
}
