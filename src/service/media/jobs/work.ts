import type { RunTask } from '../child/run-task.ts';
import type { MediaResult } from './advance-media-job.ts';
import type { MediaJob, MediaJobKind } from './media-job-records.ts';

/** What the work on a job is given. */
export interface MediaWorkTools {
  readonly run: RunTask;
  /** Where a file of the job is that was imported before it was accepted. */
  readonly pathOf: (name: string) => string;
  /** Where a file is to be made; it gets this name once the work is done. */
  readonly draftOf: (name: string) => string;
  /** Once it is aborted, whatever the work throws gives the job back. */
  readonly signal: AbortSignal;
  /** Tells how far it is, from 0 to 1. */
  readonly progress: (fraction: number) => void;
}

/** Makes what a job is for. What it throws ends the job, refunded. */
export type MediaWork = (job: MediaJob, tools: MediaWorkTools) => Promise<MediaResult>;

/** How each kind of job is done. */
export type MediaWorks = Readonly<Record<MediaJobKind, MediaWork>>;
