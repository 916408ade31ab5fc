import { AudioQuery, SignedAudioQuery } from '../../contract/speech.ts';
import { endpointPath, requireQuery } from '../http/request.ts';
import type { Job } from '../jobs/job-records.ts';
import { storedOrder } from '../jobs/job-records.ts';
import { segmentFile, StoredSpeech, wholeFile } from '../jobs/speech-jobs.ts';
import type { AccountCall, Handler } from './call.ts';
import { storedAudioAnswer } from './stored-audio.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { StoredAudio } from '../speech/audio-files.ts';
import {
  requireJob,
  hasAudio,
  hasSegmentAudio,
  pollHeaders,
  secondsLeft,
  SPEECH_STATUS,
} from './jobs.ts';

/** `GET /speech/tts/jobs/{jobId}/audio` of v3 (docs/api/jobs.md#v3). */
export const getJobAudio: Handler<AccountCall> = async (call, context) => {
  const { download } = requireQuery(call.request.url, AudioQuery);
  return wholeAnswer(call.request, requireJob(call, context), {
    context,
    isAttachment: download === '1',
  });
};

/** `GET /speech/tts/jobs/{jobId}/segments/{segmentIndex}`: the audio of one segment, once it is spoken. */
export const getJobSegment: Handler<AccountCall> = async (call, context) => {
  const { download } = requireQuery(call.request.url, AudioQuery);
  const job = requireJob(call, context);
  const { segmentIndex = '' } = call.parameters;
  const segment = job.segments.find(({ index }) => String(index) === segmentIndex);
  const isSpoken = segment !== undefined && hasSegmentAudio(job, segment);
  const { format } = storedOrder(StoredSpeech, job);
  const audio = isSpoken
    ? await context.audio.find(job.id, segmentFile(segment.index, format))
    : undefined;
  if (audio === undefined) {
    const what = segment === undefined ? 'no such segment' : 'no audio of this segment';
    throw notFound(job, context, `There is ${what}`);
  }
  const name = `${job.id}-${segmentIndex}`;
  const { request } = call;
  const isAttachment = download === '1';
  return storedAudioAnswer(audio, { request, format, name, isAttachment });
};

/**
 * `GET /api/open/tts/jobs/{taskId}/audio` of v1: leads to where the audio is, which is known to
 * whoever has the address, for a while (docs/api/jobs.md#v1).
 */
export const getTaskAudio: Handler<AccountCall> = async (call, context) => {
  const { download } = requireQuery(call.request.url, AudioQuery);
  const job = requireJob(call, context);
  await requireAudio(job, context);
  const target = { taskId: job.id, download: download === '1' };
  const { expires, signature } = context.links.sign(target);
  const query = new URLSearchParams({
    expires: String(expires),
    signature,
    ...(target.download ? { download: '1' } : {}),
  });
  const Location = `${endpointPath('getSignedAudio', { taskId: job.id })}?${query.toString()}`;
  return new Response(null, { status: 302, headers: { Location } });
};

/** The address that `getTaskAudio` gave; it needs no key (ours). */
export const getSignedAudio: Handler = async ({ request, parameters }, context) => {
  const { download, expires, signature } = requireQuery(request.url, SignedAudioQuery);
  const target = { taskId: parameters['taskId'] ?? '', download: download === '1' };
  if (!context.links.isGood(target, { expires, signature })) {
    const message = 'This link was not given by this service, or it has expired; ask for a new one';
    throw new ServiceError('ERR_FORBIDDEN', message);
  }
  const job = context.jobs.findAny('speech', target.taskId);
  if (job === undefined) throw new ServiceError('ERR_JOB_NOT_FOUND', 'There is no such job');
  return wholeAnswer(request, job, { context, isAttachment: target.download });
};

async function wholeAnswer(
  request: Request,
  job: Job,
  { context, isAttachment }: { readonly context: ServiceContext; readonly isAttachment: boolean },
): Promise<Response> {
  const audio = await requireAudio(job, context);
  const { format } = storedOrder(StoredSpeech, job);
  return storedAudioAnswer(audio, { request, format, name: job.id, isAttachment });
}

async function requireAudio(job: Job, context: ServiceContext): Promise<StoredAudio> {
  const audio = hasAudio(job) ? await context.audio.find(job.id, wholeFile(job)) : undefined;
  if (audio === undefined)
    throw notFound(job, context, `There is no audio: the job is ${SPEECH_STATUS[job.status]}`);
  return audio;
}

/** While the job runs it may come yet, and the answer says when to ask again. */
function notFound(job: Job, context: Pick<ServiceContext, 'clock'>, message: string): ServiceError {
  const status = SPEECH_STATUS[job.status];
  const headers = pollHeaders(job, secondsLeft(job), context);
  return new ServiceError('ERR_AUDIO_NOT_FOUND', message, { headers, details: { status } });
}
