/** Why a task of the media child failed; the first three are what a user's file is to blame for. */
export const TASK_FAILURES = [
  'unreadable',
  'unsupported',
  'too-large',
  'failed',
  /** It took too long, and was killed. */
  'timeout',
  /** Its process ended before it was done. */
  'died',
] as const;
export type TaskFailure = (typeof TASK_FAILURES)[number];

/** A task of the media child that failed; thrown in the child and, with the same reason, out of it. */
export class MediaTaskError extends Error {
  override readonly name = 'MediaTaskError';
  readonly reason: TaskFailure;

  constructor(reason: TaskFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
