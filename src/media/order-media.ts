import type { MediaJob, MediaOptions, MediaRequest } from '../api/resources/media.ts';
import { mediaJobRequest, sendMediaJob } from '../api/resources/media.ts';
import type { MediaJobKind } from '../api/resources/models.ts';
import type { Output } from '../durable/output.ts';
import type { Spool } from '../durable/spool.ts';
import type { OpenDestination, JobRunOptions, PerformedJob } from '../paid/job.ts';
import { performJob } from '../paid/job.ts';
import { mediaSource } from './media-source.ts';
import type { PaidSpeechDeps } from './paid-speech.ts';

export interface MediaOrdering extends JobRunOptions<MediaJob> {
  readonly kind: MediaJobKind;
  readonly order: MediaRequest;
  readonly options: MediaOptions & { readonly signal: AbortSignal };
  readonly placeFor: OpenDestination | undefined;
  /** The output file, already opened; undefined if the result is not saved. */
  readonly file: Output | undefined;
  /**
   * Returns a shell command that continues a failed dubbing with the speech that was already billed. If this function
   * is missing, foley does not save that speech in the spool.
   */
  readonly continueCommand: PaidSpeechDeps['continueCommand'] | undefined;
  readonly spool: () => Promise<Spool>;
}

/**
 * Creates a media job and records it in the journal of billed requests. Depending on the options, waits for the job and
 * saves its result (docs/billing.md).
 * @throws Failure if no job was created
 * @throws the signal's abort reason on abort
 */
export function orderMedia(ordering: MediaOrdering): Promise<PerformedJob<MediaJob>> {
  const { client, continueCommand, kind, options, order, spool } = ordering;
  const { signal } = options;
  return performJob({
    ...ordering,
    what: kind,
    request: mediaJobRequest(kind, order, options),
    create: (request) => sendMediaJob(client, kind, request),
    source: mediaSource(client, kind),
    async onFailure(failure, work) {
      if (continueCommand === undefined) return undefined;
      const { reportPaidSpeech } = await import('./paid-speech.ts');
      return reportPaidSpeech(failure, work, { client, continueCommand, signal, spool });
    },
  });
}
