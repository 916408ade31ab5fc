import type { AudioAnswer } from '../api/audio-answer.ts';
import type { SpeechOrder } from '../api/speech-order.ts';
import type { JobOptions, SpeechJob } from '../api/speech-jobs.ts';
import { createSpeechJob, speechJobRequest } from '../api/speech-jobs.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { obtainAudio } from './obtain-audio.ts';
import type { JobCourse, PerformedJob } from './perform-job.ts';
import { performJob } from './perform-job.ts';
import type { Place } from './save-file.ts';
import { speechSource } from './speech-source.ts';

/** What is ordered, where its audio goes, and who is told. */
export interface JobOrder extends JobCourse<SpeechJob> {
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly options: JobOptions;
  /** Where the audio goes once it is there; without it the job is left to itself. */
  readonly place: Place | undefined;
}

/** What became of an order. */
export type JobOutcome = PerformedJob<SpeechJob, AudioAnswer>;

/**
 * Has a text spoken as a job and, where that is wanted, waits for it and saves its audio
 * (docs/billing.md).
 * @throws Failure when there is no job; or the reason of the signal
 */
export function speakAsJob(speech: JobOrder): Promise<JobOutcome> {
  const { client, options, order, place } = speech;
  return performJob({
    ...speech,
    what: 'speech',
    request: speechJobRequest(client, order, options),
    create: (onNewKey) => createSpeechJob(client, order, { ...options, onNewKey }),
    source: {
      ...speechSource(client, { api: options.api ?? 'v3' }),
      obtain: async (job, signal) => ({
        file: await obtainAudio(client, job, signal),
        format: order.format,
      }),
    },
    placeFor: place === undefined ? undefined : () => Promise.resolve(place),
    file: place?.output,
  });
}
