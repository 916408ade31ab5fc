import path from 'node:path';
import type { AudioResponse } from '../../api/resources/speech.ts';
import type { Verdict } from '../../audio/reader.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { outputFailure } from '../../durable/file-failures.ts';
import type { FileDeps } from '../../durable/files.ts';
import { syncFolder } from '../../durable/files.ts';
import type { Output } from '../../durable/output.ts';
import { openOutput, openPublishedOutput } from '../../durable/publish.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { deliver } from '../../speech/deliver.ts';

/** Where audio goes, and who is told what on the way. */
interface Publication {
  readonly format: AudioFormat;
  /** What is spoken. */
  readonly text: string;
  readonly file: string;
  /** On the same disk. */
  readonly temporaries: string;
  readonly folders: OutputFolders;
  /** A file that has the name by then stays. */
  readonly isNew: boolean;
  /** All of it came and was checked; resolves when that is noted. */
  onVerified(
    facts: { readonly sha256: string; readonly bytes: number },
    verdict: Verdict,
  ): Promise<void>;
}

interface PublishedAudio {
  readonly bytes: number;
  readonly sha256: string;
  readonly mtimeMs: number;
}

/**
 * Brings an answer's audio into a file, checked, with its name at the very end.
 * @throws Failure: output, exists, or bad_answer for what is not the audio that was asked for
 */
export async function publishAudio(
  answer: AudioResponse,
  publication: Publication,
  deps: FileDeps,
): Promise<PublishedAudio> {
  const output = await openFor(publication, deps).catch((error: unknown) => {
    answer.discard();
    throw error;
  });
  try {
    const verdict = await deliver(
      answer,
      publication.format,
      {
        write: (chunk, onWritten) => output.write(chunk, onWritten),
        refuse: (failure) => Promise.reject(failure),
      },
      publication.text,
    );
    const { bytes, corrections } = verdict;
    for (const correction of corrections) {
      await output.overwrite(correction.position, correction.bytes);
    }
    // Always there for a file that grows under a temporary name.
    const sha256 = (await output.checksum()) ?? '';
    await publication.onVerified({ sha256, bytes }, verdict);
    await output.publish();
    const { mtimeMs } = await deps.files.stat(publication.file);
    return { bytes, sha256, mtimeMs };
  } finally {
    // After it was published this does nothing.
    await output.abandon();
  }
}

/**
 * Opens an output of the batch, whose name is given at the end.
 * @throws Failure: output
 */
export async function openFor(
  publication: Pick<Publication, 'file' | 'folders' | 'isNew' | 'temporaries'>,
  deps: FileDeps,
): Promise<Output> {
  const { file, folders, isNew, temporaries } = publication;
  await folders.useFor(file);
  const options = {
    ...deps,
    path: file,
    temporaryFolder: temporaries,
    isFolderSyncedLater: true,
    checksum: 'sha256' as const,
  };
  // The plan saw that nothing is there; at the end the name is taken only if that is still so.
  return isNew
    ? openPublishedOutput({ ...options, asked: file, existing: 'refuse', replaced: undefined })
    : openOutput(options);
}

/** The folders that outputs get their names in. */
export interface OutputFolders {
  /**
   * Makes the folder of a file, once.
   * @throws Failure (output)
   */
  useFor(file: string): Promise<void>;
  /**
   * Brings the names in all of them to the disk. A name that a power cut takes away before costs nothing:
   * its audio is fetched again.
   * @throws Failure (output)
   */
  sync(): Promise<void>;
}

export function createOutputFolders(files: FileSystem): OutputFolders {
  const made = new Map<string, Promise<unknown>>();
  const use = async (folder: string): Promise<void> => {
    const known = made.get(folder) ?? files.mkdir(folder, { recursive: true });
    made.set(folder, known);
    await known.catch((error: unknown) => {
      // The next item tries again.
      made.delete(folder);
      throw outputFailure(folder, error, 'opening', '--output-dir');
    });
  };
  return {
    useFor: (file) => use(path.dirname(file)),
    async sync() {
      for (const folder of made.keys()) {
        await syncFolder(files, folder).catch((error: unknown) => {
          throw outputFailure(folder, error, 'writing', '--output-dir');
        });
      }
    },
  };
}
