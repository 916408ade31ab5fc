import path from 'node:path';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import type { Verdict } from '../../audio/reader.ts';
import { outputFailure } from '../../durable/file-failures.ts';
import type { FileDeps } from '../../durable/files.ts';
import { syncFolder } from '../../durable/files.ts';
import type { Output } from '../../durable/output.ts';
import { openOutput, openPublishedOutput } from '../../durable/publish.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { deliver } from '../../speech/deliver.ts';
import type { ItemFacts, ItemStatus } from '../journal/journal.ts';
import type { BatchItem } from '../plan/plan.ts';

/** An item whose request may be sent: it is in the journal. */
export interface ItemWork {
  readonly item: BatchItem;
  readonly status: ItemStatus;
  /** The file for its audio. */
  readonly file: string;
  /** Whether the file did not exist at first; a file that got the name since then stays. */
  readonly isNew: boolean;
  /** Called with the cost when the service has made the audio, so that only the download is left. */
  readonly onMade?: (creditsUsed: number | undefined) => void;
}

export interface DeliveredItem {
  readonly status: ItemStatus;
  readonly creditsUsed: number | undefined;
}

/** A delivery mode of items: jobs, or a stream that cannot be repeated. */
export interface ItemSpeaker {
  /** Method and path, from which keys are derived. */
  readonly endpoint: string;
  /** Returns the request body; another body is another purchase. */
  readonly bodyOf: (order: SpeechOrder) => Uint8Array;
  /** Returns the sidecar files of an item, such as captions, from its output. */
  readonly sidecars: (output: string) => readonly string[];
  /**
   * Speaks an item, or resumes it where an earlier run was interrupted, and publishes its audio.
   * @throws Failure; the journal then says how to continue
   */
  speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem>;
}

interface OutputPlace extends Pick<ItemWork, 'file' | 'isNew'> {
  /** Folder for temporary files, on the same disk. */
  readonly temporaries: string;
  readonly folders: OutputFolders;
}

interface Publication extends OutputPlace {
  readonly item: BatchItem;
  /** Called when the audio is complete and verified; the rename waits for it. */
  readonly onVerified: (facts: ItemFacts, verdict: Verdict) => Promise<void>;
}

/**
 * Writes the audio of a response to a temporary file, verifies it, and renames it at the end.
 * @throws Failure: output, exists, or badAnswer for invalid audio
 */
export async function publishAudio(
  response: AudioResponse,
  publication: Publication,
  deps: FileDeps,
): Promise<ItemFacts> {
  const { file, item, onVerified } = publication;
  const output = await openBatchOutput(publication, deps).catch((error: unknown) => {
    response.discard();
    throw error;
  });
  try {
    const { format, text } = item.order;
    const sink = {
      write: output.write.bind(output),
      refuse: (failure: Error) => Promise.reject(failure),
    };
    const verdict = await deliver(response, format, sink, text);
    const { bytes, corrections } = verdict;
    for (const correction of corrections) {
      await output.overwrite(correction.position, correction.bytes);
    }
    // A regular file always has a checksum.
    const sha256 = (await output.checksum()) ?? '';
    await onVerified({ sha256, bytes }, verdict);
    await output.publish();
    const { mtimeMs } = await deps.files.stat(file);
    return { bytes, sha256, mtimeMs };
  } finally {
    // Does nothing after `publish`.
    await output.abandon();
  }
}

/**
 * Opens an output of the batch; its folder is synced by `OutputFolders.sync`.
 * @throws Failure (output)
 */
export async function openBatchOutput(place: OutputPlace, deps: FileDeps): Promise<Output> {
  const { file, folders, isNew, temporaries } = place;
  await folders.useFor(file);
  const options = {
    ...deps,
    path: file,
    temporaryFolder: temporaries,
    isFolderSyncedLater: true,
    checksum: 'sha256' as const,
  };
  return isNew
    ? openPublishedOutput({ ...options, asked: file, existing: 'refuse', replaced: undefined })
    : openOutput(options);
}

/** The folders of the outputs. */
export class OutputFolders {
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #files: FileSystem;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /**
   * Makes the folder of a file, once.
   * @throws Failure (output)
   */
  async useFor(file: string): Promise<void> {
    const folder = path.dirname(file);
    const made = this.#made.get(folder) ?? this.#files.mkdir(folder, { recursive: true });
    this.#made.set(folder, made);
    await made.catch((error: unknown) => {
      // The next item tries again.
      this.#made.delete(folder);
      throw outputFailure(folder, error, 'opening', '--output-dir');
    });
  }

  /**
   * Syncs all folders. A name that a power cut removes before costs nothing: the audio is fetched again.
   * @throws Failure (output)
   */
  async sync(): Promise<void> {
    for (const folder of this.#made.keys()) {
      await syncFolder(this.#files, folder).catch((error: unknown) => {
        throw outputFailure(folder, error, 'writing', '--output-dir');
      });
    }
  }
}
