import { Failure } from '../errors/failure.ts';
import { badAnswer } from './answer.ts';
import type { AudioAnswer } from './audio-answer.ts';
import { audioAnswer } from './audio-answer.ts';
import { answeredUrl } from './answered-url.ts';
import type { ApiClient } from './client.ts';
import { readJson } from './client.ts';
import { downloadFrom } from './download.ts';
import { endpoint } from './endpoint.ts';
import { isRecord } from './shape.ts';
import type { JobRef } from './speech-job.ts';
import { getSpeechJob } from './speech-jobs.ts';

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The audio of a job that has ended (spec sections 4.1 and 4.3): the key stays on the service's origin
 * and is not sent on to the store that it may redirect to. It costs nothing, and can be had again.
 * @throws Failure
 */
export async function fetchJobAudio(
  client: ApiClient,
  { api, id }: JobRef,
  { signal }: Call = {},
): Promise<AudioAnswer> {
  const { target } =
    api === 'v3'
      ? endpoint('getJobAudio', { jobId: id })
      : endpoint('getTaskAudio', { taskId: id });
  return getAudio(client, target, signal);
}

/**
 * The audio of one segment of a job, which may be there before the job has ended. v1 tells only in the
 * job itself where it is.
 * @param index from 0
 * @throws Failure (rejected) when the job has no such segment with audio
 */
export async function fetchSegmentAudio(
  client: ApiClient,
  ref: JobRef,
  index: number,
  { signal }: Call = {},
): Promise<AudioAnswer> {
  if (ref.api === 'v3') {
    const { target } = endpoint('getJobSegment', { jobId: ref.id, segmentIndex: `${index}` });
    return getAudio(client, target, signal);
  }
  const { requestId, segments, status } = await getSpeechJob(client, ref, { signal });
  const address = segments.find((segment) => segment.index === index)?.audioUrl;
  const url = answeredUrl(client, address);
  if (url !== undefined) return getAudio(client, url, signal);
  throw new Failure(`job ${ref.id} has no audio of a segment ${index} (its status is ${status})`, {
    code: 'ERR_AUDIO_NOT_FOUND',
    exit: 'rejected',
    hint: 'Segments are numbered from 0; in v1 they are there once the job has ended.',
    requestId,
  });
}

async function getAudio(
  client: ApiClient,
  target: string | URL,
  signal: AbortSignal | undefined,
): Promise<AudioAnswer> {
  const accept = 'audio/*, application/json';
  const answer = await downloadFrom(client, { target, accept, signal });
  if (answer.headers.contentType !== 'application/json') {
    return free(await audioAnswer(client, answer, { isOpaqueFine: true }));
  }
  // What a segment answers is not described: it may be where the audio is.
  const url = answeredUrl(client, addressIn(await readJson(answer)));
  if (url === undefined) {
    throw badAnswer('the answer has neither audio nor its address in it', answer);
  }
  const next = await downloadFrom(client, { target: url, accept: 'audio/*', signal });
  return free(await audioAnswer(client, next, { isOpaqueFine: true }));
}

/** What a download says of credits is not what the job cost. */
function free(audio: AudioAnswer): AudioAnswer {
  return { ...audio, creditsUsed: undefined };
}

function addressIn(body: unknown): unknown {
  if (!isRecord(body)) return undefined;
  const place = [body['segment'], body['data'], body].find((value) => isRecord(value)) ?? body;
  const fields = isRecord(place) ? place : {};
  return fields['audioUrl'] ?? fields['playbackUrl'] ?? fields['downloadUrl'] ?? fields['url'];
}
