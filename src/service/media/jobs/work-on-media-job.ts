import type { Clock } from '../../../effects/clock.ts';
import type { Random } from '../../../effects/random.ts';
import type { Owner } from '../../operations/owner.ts';
import type { ServiceEvent } from '../../running-service.ts';
import { storageFullError } from '../../service-error.ts';
import type { Store } from '../../store/open-store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { RunTask } from '../child/run-task.ts';
import type { MediaFolder } from '../media-files.ts';
import type { MediaStep } from './advance-media-job.ts';
import { advanceMediaJob } from './advance-media-job.ts';
import { hasEnded } from './lifecycle.ts';
import type { MediaJob, MediaJobError } from './media-job-records.ts';
import type { MediaWorks } from './work.ts';

export interface MediaWorkDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: Owner;
  readonly folder: MediaFolder;
  readonly run: RunTask;
  readonly works: MediaWorks;
  readonly report: (event: ServiceEvent) => void;
}

/**
 * Takes a job and works on it to its end. What a process that died had made of it is made again; it
 * wrote under a name of its own. Once the signal is aborted the job is given back. What was only needed
 * to make it goes when it has ended, also when it was given up.
 * @throws StoreError when something cannot be written down; the job is as it was then
 */
export async function workOnMediaJob(
  deps: MediaWorkDeps,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const job = await note(deps, jobId, { event: 'claimed' });
  const last =
    job?.ownerId === deps.owner.id
      ? await note(deps, jobId, await workStep(deps, job, signal))
      : job;
  if (last !== undefined && hasEnded(last.status)) await tidy(deps, last);
}

/** Does the work. Never rejects: a failure is a step too. */
async function workStep(
  deps: MediaWorkDeps,
  job: MediaJob,
  signal: AbortSignal,
): Promise<MediaStep> {
  const { folder, random, report, run, works } = deps;
  const suffix = random.uuid();
  const draft = (name: string): string => `draft-${suffix}-${name}`;
  try {
    if (job.isToFail) return { event: 'broken', error: FAILED };
    await folder.prepare(job.id);
    const result = await works[job.kind](job, {
      run,
      signal,
      pathOf: (name) => folder.pathOf(job.id, name),
      draftOf: (name) => folder.pathOf(job.id, draft(name)),
      progress: progressNoter(deps.store, job.id),
    });
    await folder.publish(job.id, draft(result.name), result.name);
    return { event: 'finished', result };
  } catch (error) {
    if (signal.aborted) return { event: 'released' };
    report({ type: 'failure', requestId: job.id, error });
    return { event: 'broken', error: storageFullError(error) ?? FAILED };
  }
}

const FAILED: MediaJobError = {
  code: 'ERR_GENERATION_FAILED',
  message: 'It could not be made; what it would have cost was refunded',
};

/** Progress is stored in steps of so many percent. */
const STEP = 5;

/**
 * Stores how far a job is; the value never falls, and reaches 100 only with the result. A step that
 * cannot be stored is skipped.
 */
function progressNoter(store: Store, jobId: string): (fraction: number) => void {
  let noted = 0;
  return (fraction) => {
    const percent = Math.min(99, Math.floor(fraction * 100));
    if (percent < noted + STEP) return;
    try {
      store.write((db) =>
        db.run('UPDATE media_job SET progress = ? WHERE id = ? AND finished_at IS NULL', [
          percent,
          jobId,
        ]),
      );
      noted = percent;
    } catch {
      // Nothing depends on it.
    }
  };
}

/** Removes what was only needed to make the result; what cannot be removed is in nobody's way. */
async function tidy({ folder, store }: MediaWorkDeps, { id }: MediaJob): Promise<void> {
  const kept = new Set(
    store
      .read((db) => db.all('SELECT name FROM media_file WHERE folder = ?', [id]))
      .map(({ name }) => name),
  );
  const names = await folder.list(id).catch(() => []);
  for (const name of names) if (!kept.has(name)) await folder.remove(id, name);
}

/** How often and how long it waits for a database that is held, on top of what the store waits. */
const WRITES = 5;
const WRITE_RETRY_MS = 500;

async function note(
  { clock, owner, store }: MediaWorkDeps,
  jobId: string,
  step: MediaStep,
): Promise<MediaJob | undefined> {
  for (let turn = 1; ; turn += 1) {
    try {
      return store.write((db) => advanceMediaJob(db, { jobId, owner, now: clock.now(), step }));
    } catch (error) {
      const isHeld = error instanceof StoreError && error.reason === 'locked';
      if (!isHeld || turn === WRITES) throw error;
      await clock.sleep(WRITE_RETRY_MS);
    }
  }
}
