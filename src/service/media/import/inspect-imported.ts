import type { RunTask } from '../child/run-task.ts';
import { Inspection } from '../inspection/inspection.ts';
import type { InspectionOrder } from '../inspection/inspection.ts';
import type { ImportSubject } from './import-failure.ts';
import { inspectionFailure } from './inspection-failure.ts';

/** Reading half a gigabyte takes two seconds; what takes so long never ends. */
const DEADLINE_MS = 60_000;

export interface Inspecting extends ImportSubject {
  readonly kind: 'audio' | 'video';
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Says what is in a file that came in, after a process of its own has read it.
 * @throws ServiceError 415, 413 or 422 for what is no good; 503 when it cannot be inspected now
 */
export async function inspectImported(
  run: RunTask,
  { path, signal, ...subject }: Inspecting,
): Promise<Inspection> {
  const order: InspectionOrder = { path, needs: subject.kind };
  try {
    return await run('inspect', order, { result: Inspection, deadlineMs: DEADLINE_MS, signal });
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}
