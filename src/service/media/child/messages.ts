import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import { TASK_FAILURES } from './media-task-error.ts';

/** What the service asks of its media child: one task, then it ends. */
export const TaskCall = Type.Object({
  task: Type.String(),
  /** What the task takes; it checks that itself. */
  order: Type.Unknown(),
  /** After so long it kills itself, should the service be gone. */
  deadlineMs: Type.Number(),
});
export type TaskCall = Static<typeof TaskCall>;

/** What the media child tells. */
export const TaskNews = Type.Union([
  Type.Object({ type: Type.Literal('progress'), fraction: Type.Number() }),
  Type.Object({ type: Type.Literal('done'), result: Type.Unknown() }),
  Type.Object({
    type: Type.Literal('failed'),
    reason: Type.Enum([...TASK_FAILURES]),
    message: Type.String(),
    /** The system's name for it, such as `ENOSPC`. */
    errno: Type.Optional(Type.String()),
  }),
]);
export type TaskNews = Static<typeof TaskNews>;

/**
 * Work that reads files of users or takes long. It checks its order, which came from another process,
 * and writes files only where that says.
 * @throws MediaTaskError for what the file is to blame for
 */
export type MediaTask = (order: unknown, tools: TaskTools) => Promise<unknown>;

/** What a task is given besides its order. */
export interface TaskTools {
  /** Tells how far it is, from 0 to 1; as often as one likes. */
  readonly progress: (fraction: number) => void;
}

/** Returns the order of a task. @throws TypeError when it does not match its schema */
export function requireOrder<Schema extends TSchema>(
  schema: Schema,
  order: unknown,
): Static<Schema> {
  if (Check(schema, order)) return order;
  throw new TypeError('the order of this task does not match its schema');
}
