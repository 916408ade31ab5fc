import type { AudioAnswer } from '../api/audio-answer.ts';
import type { ApiClient } from '../api/client.ts';
import { fetchJobAudio, fetchSegmentAudio } from '../api/job-audio.ts';
import type { JobApi, SpeechJob } from '../api/speech-jobs.ts';
import { getSpeechJob } from '../api/speech-jobs.ts';
import { withFormat } from './audio-format.ts';
import type { JobSource } from './job-source.ts';
import { obtainAudio } from './obtain-audio.ts';

export interface SpeechSourceOptions {
  readonly api: JobApi;
  /** Only this segment, from 0, whatever becomes of the others. */
  readonly segment?: number | undefined;
}

/** Speech jobs, and their audio or that of one segment (spec sections 4.1 and 4.3). */
export function speechSource(
  client: ApiClient,
  { api, segment }: SpeechSourceOptions,
): JobSource<SpeechJob, AudioAnswer> {
  return {
    isPart: segment !== undefined,
    get: (id, call) => getSpeechJob(client, { id, api }, call),
    obtain: async (job, signal) =>
      withFormat(await audioOf(client, job, { segment, signal }), job.format),
  };
}

/** Of a job that runs it is the service that says that there is no audio yet. */
function audioOf(
  client: ApiClient,
  job: SpeechJob,
  { segment, signal }: { segment: number | undefined; signal: AbortSignal | undefined },
): Promise<AudioAnswer> {
  if (segment !== undefined) return fetchSegmentAudio(client, job, segment, { signal });
  return job.phase === 'running'
    ? fetchJobAudio(client, job, { signal })
    : obtainAudio(client, job, signal);
}
