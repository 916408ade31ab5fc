import { rm } from 'node:fs/promises';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';

/** Why a task of the media child failed; the user's file is the cause of the first three. */
const TASK_FAILURES = [
  'unreadable',
  'unsupported',
  'too-large',
  'failed',
  /** Took too long and was killed. */
  'timeout',
  /** The process ended before the task was done. */
  'died',
] as const;
export type TaskFailure = (typeof TASK_FAILURES)[number];

/** A failed task of the media child; thrown in the child and, with the same reason, in the service. */
export class MediaTaskError extends Error {
  override readonly name = 'MediaTaskError';
  readonly reason: TaskFailure;

  constructor(reason: TaskFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** The one message to the media child: a task, after which the child exits. */
export const TaskCall = Type.Object({
  task: Type.String(),
  /** Parameters of the task, which the task validates. */
  order: Type.Unknown(),
  /** Milliseconds until the service kills the child; if the service has died by then, the child kills itself. */
  deadlineMs: Type.Number(),
});
export type TaskCall = Static<typeof TaskCall>;

/** A message from the media child. */
export const TaskMessage = Type.Union([
  Type.Object({ type: Type.Literal('progress'), fraction: Type.Number() }),
  Type.Object({ type: Type.Literal('done'), result: Type.Unknown() }),
  Type.Object({
    type: Type.Literal('failed'),
    reason: Type.Enum([...TASK_FAILURES]),
    message: Type.String(),
    /** Errno of the system, such as `ENOSPC`. */
    errno: Type.Optional(Type.String()),
  }),
]);
export type TaskMessage = Static<typeof TaskMessage>;

/**
 * Work for the media child: it reads files of users or takes long. It validates the parameters (`order`), which come
 * from another process, and writes only the files that the parameters name.
 * @throws MediaTaskError when a user's file is the cause
 */
export type MediaTask = (order: unknown, tools: TaskTools) => Promise<unknown>;

export interface TaskTools {
  /** Reports the progress, from 0 to 1; calls are throttled. */
  readonly progress: (fraction: number) => void;
}

/** Validates the parameters of a task. @throws TypeError when they do not match the schema */
export function requireTaskParameters<Schema extends TSchema>(
  schema: Schema,
  order: unknown,
): Static<Schema> {
  if (Check(schema, order)) return order;
  throw new TypeError('the order of this task does not match its schema');
}

/** Runs work that writes a file. If it fails, deletes the file: on a full disk, storing the failure needs space. */
export async function deleteOnFailure<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  }
}
