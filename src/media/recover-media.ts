import type { MediaJobKind } from '../api/media-job.ts';
import { MEDIA_JOB_KINDS } from '../api/media-job.ts';
import { mediaPace } from '../api/media-jobs.ts';
import type { JobRecoveryDeps, LeftJob } from '../jobs/recover-job.ts';
import { recoverAs } from '../jobs/recover-job.ts';
import type { Recovered } from '../speech/leftovers.ts';
import { mediaSource } from './media-source.ts';

/** The kind of a job that an interrupted command left, where it is one of media. */
export function mediaKindOf({ intent }: LeftJob): MediaJobKind | undefined {
  return MEDIA_JOB_KINDS.find((kind) => kind === intent.about?.what);
}

/**
 * Waits for a lip sync, a dubbing, an image or a video whose command was interrupted, and saves it, as
 * {@link recoverAs} does.
 * @throws Failure, or the reason of the signal
 */
export function recoverMedia(
  left: LeftJob,
  kind: MediaJobKind,
  deps: JobRecoveryDeps,
): Promise<Recovered> {
  const way = { source: mediaSource(deps.client, kind), pace: mediaPace() };
  return recoverAs(left, way, deps);
}
