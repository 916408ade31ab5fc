import type { MediaJob, MediaOptions, MediaOrder } from '../api/resources/media.ts';
import { createMediaJob, mediaJobRequest, mediaPace } from '../api/resources/media.ts';
import type { MediaJobKind } from '../api/resources/models.ts';
import { MEDIA_JOB_KINDS } from '../api/resources/models.ts';
import type { Output } from '../durable/output.ts';
import type { Spool } from '../durable/spool.ts';
import type { PlaceFor } from '../speech/jobs/job-source.ts';
import type { JobRunOptions, PerformedJob } from '../speech/jobs/perform-job.ts';
import { performJob } from '../speech/jobs/perform-job.ts';
import type { JobRecoveryDeps, InterruptedJob } from '../speech/jobs/recover-job.ts';
import { recoverAs } from '../speech/jobs/recover-job.ts';
import type { Recovered } from '../speech/recover.ts';
import { mediaSource } from './media-source.ts';
import type { PaidSpeechDeps } from './paid-speech.ts';

/** A lip sync, a dubbing, an image or a video that is ordered, and where it goes. */
export interface MediaOrdering extends JobRunOptions<MediaJob> {
  readonly kind: MediaJobKind;
  readonly order: MediaOrder;
  readonly options: MediaOptions & { readonly signal: AbortSignal };
  readonly placeFor: PlaceFor | undefined;
  /** The file that was opened for it, where there is one. */
  readonly file: Output | undefined;
  /** Of a dubbing: what the person types when its speech was paid for and its lip sync could not start. */
  readonly goOn: PaidSpeechDeps['goOn'] | undefined;
  readonly spool: () => Promise<Spool>;
}

/**
 * Orders it under the journal and, where that is wanted, waits for it and saves what it makes
 * (docs/billing.md). A lip sync, whose repetition no document calls harmless, is never sent again.
 * @throws Failure when there is no job; or the reason of the signal
 */
export function orderMedia(ordering: MediaOrdering): Promise<PerformedJob<MediaJob>> {
  const { client, goOn, kind, options, order, spool } = ordering;
  const { signal } = options;
  return performJob({
    ...ordering,
    what: kind,
    request: mediaJobRequest(kind, order, options),
    create: (onNewKey) => createMediaJob(client, kind, order, { ...options, onNewKey }),
    source: mediaSource(client, kind),
    async onRefused(failure, work) {
      if (goOn === undefined) return undefined;
      const { tellPaidSpeech } = await import('./paid-speech.ts');
      return tellPaidSpeech(failure, work, { client, goOn, signal, spool });
    },
  });
}

/** The kind of a job that an interrupted command left, where it is one of media. */
export function mediaKindOf({ intent }: InterruptedJob): MediaJobKind | undefined {
  return MEDIA_JOB_KINDS.find((kind) => kind === intent.about?.what);
}

/**
 * Waits for a lip sync, a dubbing, an image or a video whose command was interrupted, and saves it, as
 * {@link recoverAs} does.
 * @throws Failure, or the reason of the signal
 */
export function recoverMedia(
  left: InterruptedJob,
  kind: MediaJobKind,
  deps: JobRecoveryDeps,
): Promise<Recovered> {
  const way = { source: mediaSource(deps.client, kind), pace: mediaPace() };
  return recoverAs(left, way, deps);
}
