import type { FileAnswer } from '../api/file-answer.ts';
import type { Format } from '../audio/formats.ts';
import type { Verdict } from '../audio/verdict.ts';
import type { Output } from '../files/output.ts';
import { deliver } from '../speech/deliver.ts';
import type { AudioStream } from '../speech/speak.ts';
import { untilStopped } from '../speech/until-stopped.ts';

/** Where what a job made goes: into an opened file, or a stream. */
export type Place =
  | { readonly output: Output; readonly stream?: undefined }
  | { readonly output?: undefined; readonly stream: Pick<AudioStream, 'end' | 'write'> };

export interface SaveOptions {
  readonly format: Format;
  readonly signal?: AbortSignal | undefined;
  /** Told when all of it is in the file and was checked, before the file gets its name. */
  readonly onVerified?: ((facts: Verified) => Promise<void>) | undefined;
}

export interface Verified {
  readonly bytes: number;
  readonly checksum: string;
}

/** A file that came whole. */
export interface SavedFile {
  /** The file it is in; undefined when it went into a stream. */
  readonly path: string | undefined;
  readonly verdict: Verdict;
}

/**
 * Checks a file while it arrives; it gets its name only when everything in it was checked. Nothing
 * of one that is cut short is kept, since a job's can be had again; the caller abandons the output.
 * @throws Failure (bad_answer, output), or the reason of the signal
 */
export async function saveFile(
  file: FileAnswer,
  place: Place,
  { format, onVerified, signal }: SaveOptions,
): Promise<SavedFile> {
  const { output, stream } = place;
  const sink = output ?? stream;
  const verdict = await deliver(
    file,
    format,
    {
      write: (chunk) => untilStopped(sink.write(chunk), signal),
      // What cannot be used is not published, and was not bought with these bytes.
      refuse: (failure) => Promise.reject(failure),
    },
    undefined,
  );
  if (output === undefined) {
    await untilStopped(stream.end(), signal);
    return { path: undefined, verdict };
  }
  for (const { position, bytes } of verdict.corrections) await output.overwrite(position, bytes);
  const checksum = await output.checksum();
  if (checksum !== undefined) await onVerified?.({ bytes: verdict.bytes, checksum });
  const { path } = await output.publish();
  return { path, verdict };
}
