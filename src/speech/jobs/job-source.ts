import type { FileResponse } from '../../api/resources/speech.ts';
import type { PollCall, PolledJob } from '../../api/poll.ts';
import type { JobError } from '../../api/resources/jobs.ts';
import type { Format } from '../../audio/formats.ts';
import type { Verdict } from '../../audio/reader.ts';
import type { Output } from '../../durable/output.ts';
import { abortable } from '../../effects/concurrency.ts';
import { deliver } from '../deliver.ts';
import type { AudioStream } from '../speak.ts';

/** What is told of a job of any kind. */
export interface WaitedJob extends PolledJob {
  readonly requestId: string;
  /** Set aside while it runs, then what it cost. */
  readonly creditsUsed: number | undefined;
  /** Why it failed, where the service says so. */
  readonly error: JobError | undefined;
}

/** What a job made, and what it is. */
export interface MadeFile<File extends FileResponse = FileResponse> {
  readonly file: File;
  readonly format: Format;
}

/** How jobs of one kind are asked about, and what they made is fetched. */
export interface JobSource<Job extends WaitedJob, File extends FileResponse = FileResponse> {
  /** A job as it is now; throws a Failure. */
  get(id: string, call: Partial<PollCall>): Promise<Job>;
  /** What a job made that has not failed; throws a Failure, `lost` when the service does not have it. */
  obtain(job: Job, signal: AbortSignal | undefined): Promise<MadeFile<File>>;
  /** Only a part of what it makes is wanted, which may be there whatever becomes of the rest. */
  readonly isPart?: boolean;
}

/** Where what a job made goes: into an opened file, or a stream. */
export type Place =
  | { readonly output: Output; readonly stream?: undefined }
  | { readonly output?: undefined; readonly stream: Pick<AudioStream, 'end' | 'write'> };

interface SaveOptions {
  readonly format: Format;
  readonly signal?: AbortSignal | undefined;
  /** Told when all of it is in the file and was checked, before the file gets its name. */
  readonly onVerified?: ((facts: Verified) => Promise<void>) | undefined;
}

interface Verified {
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
  file: FileResponse,
  place: Place,
  { format, onVerified, signal }: SaveOptions,
): Promise<SavedFile> {
  const { output, stream } = place;
  const sink = output ?? stream;
  const verdict = await deliver(
    file,
    format,
    {
      write: (chunk) => abortable(sink.write(chunk), signal),
      // What cannot be used is not published, and was not bought with these bytes.
      refuse: (failure) => Promise.reject(failure),
    },
    undefined,
  );
  if (output === undefined) {
    await abortable(stream.end(), signal);
    return { path: undefined, verdict };
  }
  for (const { position, bytes } of verdict.corrections) await output.overwrite(position, bytes);
  const checksum = await output.checksum();
  if (checksum !== undefined) await onVerified?.({ bytes: verdict.bytes, checksum });
  const { path } = await output.publish();
  return { path, verdict };
}

/** Opens the place for what a job made, or what else has an id, once it is known what it is. */
export type PlaceFor = (ref: { readonly id: string }, format: Format) => Promise<Place>;
