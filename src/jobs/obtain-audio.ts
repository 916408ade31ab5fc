import type { AudioAnswer } from '../api/audio-answer.ts';
import type { ApiClient } from '../api/client.ts';
import { fetchJobAudio } from '../api/job-audio.ts';
import type { SpeechJob } from '../api/speech-job.ts';
import { isNotFound } from '../api/status-failure.ts';
import { goneFile } from './job-failures.ts';

/**
 * The audio of a job that has ended with some.
 * @throws Failure, `lost` when the service does not have it
 */
export async function obtainAudio(
  client: ApiClient,
  job: SpeechJob,
  signal: AbortSignal | undefined,
): Promise<AudioAnswer> {
  try {
    return await fetchJobAudio(client, job, { signal });
  } catch (error) {
    throw isNotFound(error) ? goneFile(error, job, 'audio') : error;
  }
}
