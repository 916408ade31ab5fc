import type { ImageJob, VideoJob } from '../../contract/schemas/picture-job.ts';
import { ImageRequest, VideoRequest } from '../../contract/schemas/picture-job.ts';
import { amountsIn } from '../billing/ledger.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import type { MediaJob } from '../media/jobs/media-job-records.ts';
import { storedOrder } from '../media/jobs/stored-order.ts';
import type { IsAvailable } from '../media/pictures/plan-picture.ts';
import { planImage, planVideo } from '../media/pictures/plan-picture.ts';
import { StoredImage, StoredVideo } from '../media/pictures/picture-works.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import { showText } from '../wording/show-value.ts';
import { acceptPicture } from './accept-picture.ts';
import type { AccountCall, Handler } from './call.ts';
import { createdAnswer, imageData, messageOf, pollHeaders, videoData } from './picture-answers.ts';

/** `POST /media/images/jobs` (spec sections 4.8 and 7.3). */
export const createImageJob: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(ImageRequest, await readJsonBody(call.request), 'The body');
  const job = await acceptPicture(call, context, {
    endpoint: 'createImageJob',
    kind: 'image',
    body,
    plan: () => planImage(body, availability(context)),
    describe: (stored, state) => imageData(stored, state, undefined),
  });
  return createdAnswer(job, endpointPath('getImageJob', { jobId: job.id }), 'image');
};

/** `POST /media/videos/jobs` (spec sections 4.8 and 7.3). */
export const createVideoJob: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(VideoRequest, await readJsonBody(call.request), 'The body');
  const job = await acceptPicture(call, context, {
    endpoint: 'createVideoJob',
    kind: 'video',
    body,
    plan: () => planVideo(body, availability(context)),
    describe: (stored, state) => videoData(stored, state, undefined),
  });
  return createdAnswer(job, endpointPath('getVideoJob', { jobId: job.id }), 'video');
};

/** `GET /media/images/jobs/{jobId}` (spec section 4.8). */
export const getImageJob: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context, 'image');
  const data = imageData(storedOrder(StoredImage, job), job, resultUrl(call, context, job));
  const body: ImageJob = { ...envelope(call, context, job), data };
  return Response.json(body, { headers: pollHeaders(job, 'image') });
};

/** `GET /media/videos/jobs/{jobId}` (spec section 4.8). */
export const getVideoJob: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context, 'video');
  const data = videoData(storedOrder(StoredVideo, job), job, resultUrl(call, context, job));
  const body: VideoJob = { ...envelope(call, context, job), data };
  return Response.json(body, { headers: pollHeaders(job, 'video') });
};

function availability({ catalogue }: ServiceContext): IsAvailable {
  return (id) => catalogue.isAvailable({ id });
}

function requireJob(
  { account, parameters }: AccountCall,
  { media }: ServiceContext,
  kind: 'image' | 'video',
): MediaJob {
  const { jobId = '' } = parameters;
  const job = media.jobs.find(account, kind, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `There is no job ${showText(jobId)}`);
}

function envelope({ account, requestId }: AccountCall, { store }: ServiceContext, job: MediaJob) {
  const { quota } = store.read((db) => amountsIn(db, account, 'available'));
  return { success: true, message: messageOf(job), requestId, quotaRemaining: quota };
}

/** A new address each time; none before there is something. */
function resultUrl(
  { request }: AccountCall,
  { media }: ServiceContext,
  { id, status }: MediaJob,
): string | undefined {
  return status === 'completed' ? media.link(request.url, id) : undefined;
}
