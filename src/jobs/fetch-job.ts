import type { ApiClient } from '../api/client.ts';
import { fetchJobAudio, fetchSegmentAudio } from '../api/job-audio.ts';
import type { PollDeps } from '../api/poll-job.ts';
import type { JobRef, SpeechJob } from '../api/speech-jobs.ts';
import { getSpeechJob, pollSpeechJob } from '../api/speech-jobs.ts';
import type { AudioAnswer } from '../api/audio-answer.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { Failure } from '../errors/failure.ts';
import { withFormat } from './audio-format.ts';
import { afterAcceptance, failedJob } from './job-failures.ts';
import { obtainAudio } from './obtain-audio.ts';
import type { Place, SavedAudio } from './save-audio.ts';
import { saveAudio } from './save-audio.ts';

/** Opens the place for the audio of a job, or of what else has an id, once it is known what it is. */
export type PlaceFor = (ref: Pick<JobRef, 'id'>, format: AudioFormat) => Promise<Place>;

/** How jobs are waited for, and where their audio goes. */
export interface JobFetch {
  readonly client: ApiClient;
  /** Without it the state that a job has now is enough. */
  readonly polling: Omit<PollDeps<SpeechJob>, 'signal'> | undefined;
  /** Without it nothing is fetched. */
  readonly placeFor: PlaceFor | undefined;
  /** Only this segment, from 0, whatever becomes of the others. */
  readonly segment?: number | undefined;
  readonly signal: AbortSignal;
  /** What the person types to go on with a job. */
  readonly resume: (jobId: string) => string;
  /** Told when the audio of a job has its place. */
  readonly onSaved?: ((job: SpeechJob) => Promise<void>) | undefined;
}

/** What became of one job. */
export interface FetchedJob {
  readonly id: string;
  /** As it was last heard of; undefined when nothing was. */
  readonly job: SpeechJob | undefined;
  readonly saved: SavedAudio | undefined;
  /** Why it is not what was asked for. */
  readonly failure: Failure | undefined;
}

/**
 * Waits for a job, where that is wanted, and brings its audio to its place. That it failed, still runs,
 * or cannot be fetched is part of what it gives.
 * @throws the reason of the signal
 */
export async function fetchJob(ref: JobRef, options: JobFetch): Promise<FetchedJob> {
  const { resume, signal } = options;
  const { id } = ref;
  let job: SpeechJob | undefined;
  try {
    job = await heardOf(ref, options, (state) => {
      job = state;
    });
    if (job.phase === 'failed' && options.segment === undefined) throw failedJob(job);
    const saved = await save(job, options);
    if (saved !== undefined) await options.onSaved?.(job);
    return { id, job, saved, failure: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const isThere = job !== undefined && job.phase !== 'failed';
    const failure =
      isThere || error.exit === 'deadline' ? afterAcceptance(error, resume(id)) : error;
    return { id, job, saved: undefined, failure };
  }
}

async function heardOf(
  ref: JobRef,
  { client, polling, signal }: JobFetch,
  note: (job: SpeechJob) => void,
): Promise<SpeechJob> {
  if (polling === undefined) return getSpeechJob(client, ref, { signal });
  return pollSpeechJob(client, ref, {
    ...polling,
    signal,
    onState: (job) => {
      note(job);
      polling.onState?.(job);
    },
  });
}

async function save(job: SpeechJob, options: JobFetch): Promise<SavedAudio | undefined> {
  const { placeFor, signal } = options;
  if (placeFor === undefined) return undefined;
  const { audio, format } = await withFormat(await audioOf(job, options), job.format);
  const place = await placeFor(job, format).catch((error: unknown) => {
    audio.discard();
    throw error;
  });
  try {
    return await saveAudio(audio, place, { format, signal });
  } finally {
    // After it was published this does nothing.
    await place.output?.abandon();
  }
}

/** Of a job that runs it is the service that says that there is no audio yet. */
function audioOf(job: SpeechJob, { client, segment, signal }: JobFetch): Promise<AudioAnswer> {
  if (segment !== undefined) return fetchSegmentAudio(client, job, segment, { signal });
  return job.phase === 'running'
    ? fetchJobAudio(client, job, { signal })
    : obtainAudio(client, job, signal);
}
