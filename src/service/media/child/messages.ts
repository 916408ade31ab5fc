import { rm } from 'node:fs/promises';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';

// A user's file is the cause of the first three.
const TASK_FAILURES = [
  'unreadable',
  'unsupported',
  'too-large',
  'failed',
  'timeout',
  // The process ended before the task was done.
  'died',
] as const;
export type TaskFailure = (typeof TASK_FAILURES)[number];

/** The error of a failed media task. The child process throws it, and the service throws it again. */
export class MediaTaskError extends Error {
  override readonly name = 'MediaTaskError';
  readonly reason: TaskFailure;

  constructor(reason: TaskFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export const TaskCall = Type.Object({
  task: Type.String(),
  order: Type.Unknown(),
  /** Timeout in milliseconds, after which the service kills the child process. */
  deadlineMs: Type.Number(),
});
export type TaskCall = Static<typeof TaskCall>;

export const TaskMessage = Type.Union([
  Type.Object({ type: Type.Literal('progress'), fraction: Type.Number() }),
  Type.Object({ type: Type.Literal('done'), result: Type.Unknown() }),
  Type.Object({
    type: Type.Literal('failed'),
    reason: Type.Enum([...TASK_FAILURES]),
    message: Type.String(),
    /** Code of the system error that made the task fail, such as `ENOSPC`. */
    errno: Type.Optional(Type.String()),
  }),
]);
export type TaskMessage = Static<typeof TaskMessage>;

/**
 * A task that runs in a child process, because it takes long or reads users' files. The task validates `order` and
 * writes only the files that `order` names.
 * @throws MediaTaskError when a user's file makes the task fail
 */
export type MediaTask = (order: unknown, tools: TaskTools) => Promise<unknown>;

export interface TaskTools {
  /** Reports the progress, from 0 to 1. Calls are throttled. */
  readonly progress: (fraction: number) => void;
}

/** Validates the parameters of a task and returns them. @throws TypeError when they do not match the schema */
export function requireTaskParameters<Schema extends TSchema>(
  schema: Schema,
  order: unknown,
): Static<Schema> {
  if (Check(schema, order)) return order;
  throw new TypeError('the order of this task does not match its schema');
}

/** Runs `work`, which writes the file at `path`. If `work` fails, deletes the file to free disk space. */
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
