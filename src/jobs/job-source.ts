import type { FileAnswer } from '../api/file-answer.ts';
import type { PollCall, PolledJob } from '../api/poll-job.ts';
import type { JobError } from '../api/speech-job.ts';
import type { Format } from '../audio/formats.ts';

/** What is told of a job of any kind. */
export interface WaitedJob extends PolledJob {
  readonly requestId: string;
  /** Set aside while it runs, then what it cost. */
  readonly creditsUsed: number | undefined;
  /** Why it failed, where the service says so. */
  readonly error: JobError | undefined;
}

/** What a job made, and what it is. */
export interface MadeFile<File extends FileAnswer = FileAnswer> {
  readonly file: File;
  readonly format: Format;
}

/** How jobs of one kind are asked about, and what they made is fetched. */
export interface JobSource<Job extends WaitedJob, File extends FileAnswer = FileAnswer> {
  /** A job as it is now; throws a Failure. */
  get(id: string, call: Partial<PollCall>): Promise<Job>;
  /** What a job made that has not failed; throws a Failure, `lost` when the service does not have it. */
  obtain(job: Job, signal: AbortSignal | undefined): Promise<MadeFile<File>>;
  /** Only a part of what it makes is wanted, which may be there whatever becomes of the rest. */
  readonly isPart?: boolean;
}
