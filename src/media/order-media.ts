import type { MediaJob, MediaJobKind } from '../api/media-job.ts';
import type { MediaOptions, MediaOrder } from '../api/media-jobs.ts';
import { createMediaJob, mediaJobRequest } from '../api/media-jobs.ts';
import type { Output } from '../files/output.ts';
import type { Spool } from '../files/spool.ts';
import type { PlaceFor } from '../jobs/fetch-job.ts';
import type { JobCourse, PerformedJob } from '../jobs/perform-job.ts';
import { performJob } from '../jobs/perform-job.ts';
import { mediaSource } from './media-source.ts';
import type { PaidSpeechDeps } from './paid-speech.ts';

/** A lip sync, a dubbing, an image or a video that is ordered, and where it goes. */
export interface MediaOrdering extends JobCourse<MediaJob> {
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
