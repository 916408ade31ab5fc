import type { AudioAnswer } from '../../api/audio-answer.ts';
import type { Verdict } from '../../audio/verdict.ts';
import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import { openOutput } from '../../files/publish.ts';
import { openPublishedOutput } from '../../files/published-output.ts';
import type { Output } from '../../files/output.ts';
import { deliver } from '../../speech/deliver.ts';
import type { OutputFolders } from './output-folders.ts';

/** Where audio goes, and who is told what on the way. */
export interface Publication {
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

export interface PublishedAudio {
  readonly bytes: number;
  readonly sha256: string;
  readonly mtimeMs: number;
}

/**
 * Brings an answer's audio into a file, checked, with its name at the very end.
 * @throws Failure: output, exists, or bad_answer for what is not the audio that was asked for
 */
export async function publishAudio(
  answer: AudioAnswer,
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
