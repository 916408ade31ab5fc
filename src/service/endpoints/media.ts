import { Type } from 'typebox';
import { Check } from 'typebox/schema';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { HEADERS } from '../../contract/values.ts';
import { SignedAudioQuery } from '../../contract/speech.ts';
import type { MediaJobStatus } from '../../contract/lip-sync.ts';
import type { MediaModels, ImageJob, VideoJob } from '../../contract/media.ts';
import { MediaModelsQuery, ImageRequest, VideoRequest } from '../../contract/media.ts';
import {
  endpointPath,
  readJsonBody,
  requireIdempotencyKey,
  requireQuery,
  requireValid,
} from '../http/request.ts';
import type { Job, JobRecord, Json } from '../jobs/job-records.ts';
import { readJob, storedOrder } from '../jobs/job-records.ts';
import type { JobStatus } from '../jobs/lifecycle.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { IMAGE_MODELS, VIDEO_MODELS } from '../media/catalogue/picture-models.ts';
import type { MediaArrival } from '../media/import/imports.ts';
import { readMediaFile } from '../media/media-files.ts';
import { titleOf } from '../media/pictures/letters.ts';
import {
  inspectReferenceFile,
  secondsToMake,
  StoredImage,
  StoredVideo,
} from '../media/pictures/picture-works.ts';
import type { IsAvailable, PicturePlan, ReferenceUrl } from '../media/pictures/plan-picture.ts';
import { planImage, planVideo } from '../media/pictures/plan-picture.ts';
import type { OperationKey } from '../operations/operations.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { AccountCall, Handler } from './call.ts';
import { pollHeaders, requireJob } from './jobs.ts';
import { storedFileAnswer } from './stored-audio.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';

/** `POST /media/images/jobs` (docs/api/media.md and docs/api/errors.md). */
export const createImageJob: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(ImageRequest, await readJsonBody(call.request), 'The body');
  const job = await acceptPicture(call, context, {
    endpoint: 'createImageJob',
    kind: 'image',
    body,
    plan: () => planImage(body, availability(context)),
    describe: (stored, state) => imageData(stored, state, undefined),
  });
  const location = endpointPath('getImageJob', { jobId: job.id });
  const expectedSeconds = secondsToMake(storedOrder(StoredImage, job));
  return createdAnswer(job, context, { location, expectedSeconds });
};

/** `POST /media/videos/jobs` (docs/api/media.md and docs/api/errors.md). */
export const createVideoJob: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(VideoRequest, await readJsonBody(call.request), 'The body');
  const job = await acceptPicture(call, context, {
    endpoint: 'createVideoJob',
    kind: 'video',
    body,
    plan: () => planVideo(body, availability(context)),
    describe: (stored, state) => videoData(stored, state, undefined),
  });
  const location = endpointPath('getVideoJob', { jobId: job.id });
  const expectedSeconds = secondsToMake(storedOrder(StoredVideo, job));
  return createdAnswer(job, context, { location, expectedSeconds });
};

/** `GET /media/images/jobs/{jobId}` (docs/api/media.md). */
export const getImageJob: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context, 'image');
  const stored = storedOrder(StoredImage, job);
  const data = imageData(stored, job, addressOfResult(call, context, job));
  const body: ImageJob = { ...envelope(call, context, job), data };
  return Response.json(body, { headers: pollHeaders(job, secondsToMake(stored), context) });
};

/** `GET /media/videos/jobs/{jobId}` (docs/api/media.md). */
export const getVideoJob: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context, 'video');
  const stored = storedOrder(StoredVideo, job);
  const data = videoData(stored, job, addressOfResult(call, context, job));
  const body: VideoJob = { ...envelope(call, context, job), data };
  return Response.json(body, { headers: pollHeaders(job, secondsToMake(stored), context) });
};

function availability({ catalogue }: ServiceContext): IsAvailable {
  return (id) => catalogue.isAvailable({ id });
}

function envelope({ account, requestId }: AccountCall, { store }: ServiceContext, job: Job) {
  const { quota } = store.read((db) => amountsIn(db, account, 'available'));
  return { success: true, message: messageOf(job), requestId, quotaRemaining: quota };
}

/** A new address each time; none before there is something. */
function addressOfResult(
  { request }: AccountCall,
  { media }: ServiceContext,
  { id, status }: Job,
): string | undefined {
  return status === 'done' ? media.link(request.url, id) : undefined;
}

/** An image or a video that is asked for. */
interface PictureOrder<Stored, Data> {
  readonly endpoint: EndpointId;
  readonly kind: 'image' | 'video';
  /** The body, as it makes a request the same as another. */
  readonly body: Json;
  /** Decides what is made; only asked when the key is new. */
  plan(): PicturePlan<Stored>;
  /** What the create tells of it. */
  describe(stored: Stored, state: PictureState): Data;
}

/**
 * Accepts an image or a video once: its references are imported and decoded, then it is stored and paid.
 * The same create under the same key is answered as it was then, whatever has become of the job (docs/api/media.md).
 * @throws ServiceError 400 without a key and for what the plan refuses, 402 when there is too little, 409 when
 * the key was used for something else, and what the import throws; nothing is charged then
 */
async function acceptPicture<Stored extends Json, Data>(
  call: AccountCall,
  context: ServiceContext,
  order: PictureOrder<Stored, Data>,
): Promise<Job> {
  const { account: accountId, request } = call;
  const idempotencyKey = requireIdempotencyKey(request.headers);
  const fingerprint = fingerprintOf(order.body);
  const key = { accountId, endpoint: order.endpoint, idempotencyKey, fingerprint };
  return context.creates.once({
    key,
    signal: request.signal,
    find: readJob,
    make: (signal) => makePicture({ call, key, order, signal }, context),
  });
}

interface Making<Stored, Data> {
  readonly call: AccountCall;
  readonly key: OperationKey & { readonly endpoint: EndpointId };
  readonly order: PictureOrder<Stored, Data>;
  readonly signal: AbortSignal;
}

async function makePicture<Stored extends Json, Data>(
  { call: { account: accountId, requestId }, key, order, signal }: Making<Stored, Data>,
  context: ServiceContext,
): Promise<Job> {
  const { jobs, media } = context;
  const { kind } = order;
  const plan = order.plan();
  return media.imports.within(signal, async (arrival) => {
    const references = await importReferences(signal, context, arrival, plan.urls);
    const stored = plan.toStore({ references, createdAt: context.clock.now() });
    const { id } = arrival;
    const { credits } = plan;
    const state: PictureState = { ...NEW, id, credits };
    const answer = {
      success: true,
      message: messageOf(state),
      requestId,
      quotaRemaining: context.store.read((db) => amountsIn(db, accountId, 'available')).quota,
      data: order.describe(stored, state),
    };
    const charge = { credits, quota: 0 };
    signal.throwIfAborted();
    return jobs.accept({ ...key, id, requestId, kind, order: stored, answer, charge });
  });
}

const NEW = {
  status: 'pending',
  progress: 0,
  finishedAt: undefined,
  errorCode: undefined,
  errorMessage: undefined,
} as const;

/** One after the other, and each decoded once. Gives their names in the folder of the job. */
async function importReferences(
  signal: AbortSignal,
  { media }: ServiceContext,
  arrival: MediaArrival,
  urls: readonly ReferenceUrl[],
): Promise<string[]> {
  const names: string[] = [];
  for (const { field, url } of urls) {
    const subject = { kind: 'image', field } as const;
    const name = `reference-${names.length}`;
    const { path } = await arrival.fetch({ ...subject, url, name });
    await inspectReferenceFile(media.run, { path, signal, ...subject });
    names.push(name);
  }
  return names;
}

/** How far the job of a picture is. */
type PictureState = Pick<
  JobRecord,
  'id' | 'status' | 'progress' | 'credits' | 'finishedAt' | 'errorCode' | 'errorMessage'
>;

/** What is told of an image. @param resultUrl where it is, once it is */
function imageData(
  stored: StoredImage,
  state: PictureState,
  resultUrl: string | undefined,
): ImageJob['data'] {
  const { aspect_ratio, resolution, output_format } = stored;
  return { ...taskData(stored, state, resultUrl), aspect_ratio, resolution, output_format };
}

/** What is told of a video. @param resultUrl where it is, once it is */
function videoData(
  stored: StoredVideo,
  state: PictureState,
  resultUrl: string | undefined,
): VideoJob['data'] {
  const { size, seconds } = stored;
  return { ...taskData(stored, state, resultUrl), size, seconds };
}

function taskData(
  { createdAt, model, seed, width, height, references, prompt }: StoredImage | StoredVideo,
  state: PictureState,
  resultUrl: string | undefined,
) {
  const { id, status, progress, credits, finishedAt } = state;
  return {
    id,
    task_id: id,
    status: MEDIA_STATUS[status],
    progress,
    model,
    seed,
    width,
    height,
    reference_count: references.length,
    credits_used: credits,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    result_url: resultUrl ?? null,
    error: mediaError(state) ?? null,
    notices: noticesOf(prompt),
  };
}

const SANDBOX_NOTICE =
  'Sandbox rendering: a card with the prompt and the references, made by no image or video model';

/** What the picture is not, and what of the prompt cannot be written on it. */
function noticesOf(prompt: string): string[] {
  const { lacking } = titleOf(prompt);
  if (lacking === 0) return [SANDBOX_NOTICE];
  const some = lacking === 1 ? '1 character' : `${lacking} characters`;
  return [SANDBOX_NOTICE, `The title leaves out ${some} of the prompt that its font does not have`];
}

/** Statuses of media jobs in the API (docs/api/lip-sync.md); none ends in part. */
export const MEDIA_STATUS = {
  pending: 'pending',
  processing: 'processing',
  done: 'completed',
  partial: 'completed',
  failed: 'failed',
} as const satisfies Readonly<Record<JobStatus, string>>;

/** Returns why a media job failed; a job without a message was attempted too often. */
export function mediaError({
  errorCode: code = 'ERR_GENERATION_FAILED',
  errorMessage:
    message = 'The job was begun too often without an end; what it would have cost was refunded',
  status,
}: Pick<JobRecord, 'errorCode' | 'errorMessage' | 'status'>) {
  return status === 'failed' ? { code, message } : undefined;
}

const MESSAGES: Readonly<Record<MediaJobStatus, string>> = {
  pending: 'The job was accepted',
  processing: 'The job is worked on',
  completed: 'The job is done',
  failed: 'The job failed and was refunded',
};

/** The status in a sentence. */
function messageOf({ status }: Pick<PictureState, 'status'>): string {
  return MESSAGES[MEDIA_STATUS[status]];
}

/** What the headers of a create are taken from. */
const Created = Type.Object({
  quotaRemaining: Type.Integer(),
  data: Type.Object({ credits_used: Type.Integer() }),
});

/**
 * The answer of a create, as it was when the job was accepted, also when that was before; with headers
 * as jobs of speech have them.
 */
function createdAnswer(
  job: Job,
  context: ServiceContext,
  { expectedSeconds, location }: { readonly expectedSeconds: number; readonly location: string },
): Response {
  const { answer, id } = job;
  if (!Check(Created, answer)) throw new TypeError(`the answer of job ${id} cannot be read`);
  const headers = {
    Location: location,
    ...pollHeaders(job, expectedSeconds, context),
    [HEADERS.quotaRemaining]: String(answer.quotaRemaining),
    [HEADERS.creditsUsed]: String(answer.data.credits_used),
  };
  return Response.json(answer, { status: 202, headers });
}

/** `GET /media/models`: every variant with its price and how many references it takes (docs/api/media.md). */
export const getMediaModels: Handler<AccountCall> = ({ request, requestId }, { catalogue }) => {
  const { mediaType } = requireQuery(request.url, MediaModelsQuery);
  const models = [...IMAGE_MODELS, ...VIDEO_MODELS]
    .filter((model) => mediaType === undefined || model.media_type === mediaType)
    .map((model) => ({ ...model, available: catalogue.isAvailable(model) }));
  const body: MediaModels = { models, requestId };
  return Response.json(body);
};

/** `GET /api/open/media/files/{fileId}`: what the address of a result leads to; it needs no key (ours). */
export const getMediaFile: Handler = async ({ request, parameters }, { links, media, store }) => {
  const { download, expires, signature } = requireQuery(request.url, SignedAudioQuery);
  const { fileId = '' } = parameters;
  if (!links.isGood({ taskId: fileId, download: false }, { expires, signature })) {
    const message = 'This link was not given by this service, or it has expired; ask for a new one';
    throw new ServiceError('ERR_FORBIDDEN', message);
  }
  const record = store.read((db) => readMediaFile(db, fileId));
  const file = record && (await media.folder.find(record.folder, record.name));
  if (record === undefined || file === undefined) {
    throw new ServiceError('ERR_MEDIA_NOT_FOUND', 'The file is gone');
  }
  const [extension = ''] = /\.\w+$/.exec(record.name) ?? [];
  const { contentType } = record;
  const isAttachment = download === '1';
  const name = `${fileId}${extension}`;
  return storedFileAnswer(file, { request, contentType, name, isAttachment });
};
