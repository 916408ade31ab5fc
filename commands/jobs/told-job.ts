import type { Context } from '../../src/cli/context.ts';
import type { FetchedJob } from '../../src/jobs/fetch-job.ts';
import type { WaitedJob } from '../../src/jobs/job-source.ts';
import type { SavedFile } from '../../src/jobs/save-file.ts';

/** A job and what was made of it. */
export interface ToldJob<Job extends WaitedJob> {
  readonly job: Job;
  /** Of its create, where this command created it. */
  readonly requestId?: string | undefined;
  readonly saved: SavedFile | undefined;
  /** Only downloaded: this command paid nothing. */
  readonly isFree?: boolean;
}

/** What a person sees while a job is waited for. */
export interface JobProgress<Job extends WaitedJob> {
  state(job: Job): void;
  update(label: string): void;
  stop(): void;
}

/** How jobs of one kind are told. */
export interface JobWords<Job extends WaitedJob> {
  /** The document of creates and waits with `--json` (contract, section 3). */
  document(told: ToldJob<Job>): Record<string, unknown>;
  /** That only a part of it was made, on a line for stderr. */
  partial(job: Job): string;
  /** What was saved and what it cost, on a line for stderr. */
  saved(told: ToldJob<Job>): string;
  /** @param label what goes on until something is heard of it */
  show(context: Pick<Context, 'clock' | 'io'>, label: string): JobProgress<Job>;
  /** What such a job is called with `--json`, and the interface that has it. */
  readonly kind: string;
  readonly api: string;
  readonly target: 'embedded' | 'hosted';
}

/** The document of a job of which perhaps nothing was heard, with what went wrong. */
export function fetchedDocument<Job extends WaitedJob>(
  { failure, id, job, saved }: FetchedJob<Job>,
  words: JobWords<Job>,
): Record<string, unknown> {
  const { api, kind, target } = words;
  const document =
    job === undefined ? { ...UNHEARD, id, kind, api, target } : words.document({ job, saved });
  if (failure === undefined) return document;
  const { code, exitCode, message } = failure;
  return { ...document, error: { code, message, exitCode } };
}

const UNHEARD = {
  id: null,
  kind: null,
  api: null,
  status: null,
  output: null,
  requestId: null,
  creditsUsed: null,
  quotaRemaining: null,
  ignoredParameters: null,
  target: null,
  raw: null,
};
