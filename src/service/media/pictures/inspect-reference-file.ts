import { Type } from 'typebox';
import type { RunTask } from '../child/run-task.ts';
import type { ImportSubject } from '../import/import-failure.ts';
import { inspectionFailure } from '../import/import-failure.ts';
import type { ReferenceOrder } from './picture-orders.ts';

export interface ReferenceInspecting extends ImportSubject {
  readonly path: string;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 30_000;

const Size = Type.Object({ width: Type.Integer(), height: Type.Integer() });

/**
 * Has a reference decoded by a process of its own, before anything is made of it.
 * @throws ServiceError 413, 415 or 422 for what is no good; 503 when it cannot be inspected now (docs/api/errors.md)
 */
export async function inspectReferenceFile(
  run: RunTask,
  { path, signal, ...subject }: ReferenceInspecting,
): Promise<void> {
  const order: ReferenceOrder = { path };
  try {
    await run('inspect-picture', order, { result: Size, deadlineMs: DEADLINE_MS, signal });
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}
