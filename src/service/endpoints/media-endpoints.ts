import { Type } from 'typebox';
import { Check } from 'typebox/schema';
import type { MediaJobStatus } from '../../contract/lip-sync.ts';
import type { MediaModels, ImageJob, VideoJob } from '../../contract/media.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import type { StoredJob, JobProgress, Json } from '../jobs/job-records.ts';
import { readJob, storedOrder } from '../jobs/job-records.ts';
import type { StoredStatus } from '../jobs/lifecycle.ts';
import { IMAGE_MODELS, VIDEO_MODELS } from '../media/catalogue/picture-models.ts';
import type { MediaImport } from '../media/import/imports.ts';
import { readMediaFile } from '../media/media-files.ts';
import { titleOf } from '../media/pictures/card.ts';
import type { IsAvailable, PicturePlan } from '../media/pictures/pictures.ts';
import {
  inspectReferenceFile,
  planImage,
  planVideo,
  secondsToMake,
  StoredImage,
  StoredVideo,
} from '../media/pictures/pictures.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { AccountCall, CallTo, ChargedCall, Handler } from './call.ts';
import { acceptedResponse, pollHeaders, quotaOf, requireJob } from './job-responses.ts';
import { requireSigned, storedFileResponse } from './stored-audio.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';

/** Handles `POST /media/images/jobs` (docs/api/media.md and docs/api/errors.md). */
export const createImageJob: Handler<'createImageJob'> = (call, context) =>
  createPicture(call, context, IMAGE, (isAvailable) => planImage(call.body, isAvailable));

/** Handles `POST /media/videos/jobs` (docs/api/media.md and docs/api/errors.md). */
export const createVideoJob: Handler<'createVideoJob'> = (call, context) =>
  createPicture(call, context, VIDEO, (isAvailable) => planVideo(call.body, isAvailable));

/** Handles `GET /media/images/jobs/{jobId}` (docs/api/media.md). */
export const getImageJob: Handler<'getImageJob'> = (call, context) =>
  getPicture(call, context, IMAGE);

/** Handles `GET /media/videos/jobs/{jobId}` (docs/api/media.md). */
export const getVideoJob: Handler<'getVideoJob'> = (call, context) =>
  getPicture(call, context, VIDEO);

interface Picture<Stored> {
  readonly kind: 'image' | 'video';
  readonly polledAt: 'getImageJob' | 'getVideoJob';
  readonly storedFor: (job: StoredJob) => Stored;
  /** Returns the response fields of a job. `resultUrl` is undefined until the image or video exists. */
  readonly dataOf: (stored: Stored, state: JobProgress, resultUrl: string | undefined) => object;
}

const IMAGE: Picture<StoredImage> = {
  kind: 'image',
  polledAt: 'getImageJob',
  storedFor: (job) => storedOrder(StoredImage, job),
  dataOf: imageData,
};

const VIDEO: Picture<StoredVideo> = {
  kind: 'video',
  polledAt: 'getVideoJob',
  storedFor: (job) => storedOrder(StoredVideo, job),
  dataOf: videoData,
};

function getPicture<Stored extends StoredImage | StoredVideo>(
  call: CallTo<'getImageJob'>,
  context: ServiceContext,
  { dataOf, kind, storedFor }: Picture<Stored>,
): Response {
  const { media } = context;
  const job = requireJob(call, context, kind, call.parameters.jobId);
  const stored = storedFor(job);
  const url = job.status === 'done' ? media.link(call.request.url, job.id) : undefined;
  const body = { ...envelope(call, context, job), data: dataOf(stored, job, url) };
  return Response.json(body, { headers: pollHeaders(job, secondsToMake(stored), context.clock) });
}

function envelope(call: AccountCall, context: ServiceContext, { status }: JobProgress) {
  const { requestId } = call;
  const quotaRemaining = quotaOf(call, context);
  return { success: true, message: MESSAGES[MEDIA_STATUS[status]], requestId, quotaRemaining };
}

// Imports and decodes the reference images, then stores the job and reserves its price. A retry with the same
// idempotency key gets the first response (docs/api/media.md). If this throws, nothing is charged.
async function createPicture<Stored extends StoredImage | StoredVideo>(
  call: ChargedCall & { readonly body: Json },
  context: ServiceContext,
  { dataOf, kind, polledAt, storedFor }: Picture<Stored>,
  planFor: (isAvailable: IsAvailable) => PicturePlan<Stored>,
): Promise<Response> {
  const { request, requestId } = call;
  const { catalogue, clock, creates, jobs, media } = context;
  const key = { ...call.key, fingerprint: fingerprintOf(call.body) };
  const make = (signal: AbortSignal): Promise<StoredJob> => {
    const plan = planFor((id) => catalogue.isAvailable(id));
    return media.imports.within(signal, async (arrival) => {
      const references = await importReferences(signal, context, arrival, plan.urls);
      const createdAt = clock.now();
      const order = plan.toStore(references, createdAt);
      const { id } = arrival;
      const { credits } = plan;
      const state: JobProgress = { ...NEW, id, credits, createdAt };
      const answer = { ...envelope(call, context, state), data: dataOf(order, state, undefined) };
      const charge = { credits, quota: 0 };
      signal.throwIfAborted();
      return jobs.accept({ ...key, id, requestId, kind, order, answer, charge });
    });
  };
  const job = await creates.once({ key, signal: request.signal, find: readJob, make });
  const { answer, id } = job;
  if (!Check(Created, answer)) throw new TypeError(`the answer of job ${id} cannot be read`);
  return acceptedResponse(answer, {
    location: endpointPath(polledAt, { jobId: id }),
    poll: pollHeaders(job, secondsToMake(storedFor(job)), context.clock),
    quotaRemaining: answer.quotaRemaining,
    creditsUsed: answer.data.credits_used,
  });
}

// These fields of the stored first response are needed for the headers of a retry's response.
const Created = Type.Object({
  quotaRemaining: Type.Integer(),
  data: Type.Object({ credits_used: Type.Integer() }),
});

const NEW = {
  status: 'pending',
  progress: 0,
  finishedAt: undefined,
  errorCode: undefined,
  errorMessage: undefined,
} as const;

async function importReferences(
  signal: AbortSignal,
  { media }: ServiceContext,
  arrival: MediaImport,
  urls: PicturePlan<unknown>['urls'],
): Promise<string[]> {
  const names: string[] = [];
  for (const { field, url } of urls) {
    const subject = { kind: 'image', field } as const;
    const name = `reference-${names.length}`;
    const path = await arrival.fetch({ ...subject, url, name });
    await inspectReferenceFile(media.run, path, subject, signal);
    names.push(name);
  }
  return names;
}

function imageData(
  stored: StoredImage,
  state: JobProgress,
  resultUrl: string | undefined,
): ImageJob['data'] {
  const { aspect_ratio, resolution, output_format } = stored;
  return { ...taskData(stored, state, resultUrl), aspect_ratio, resolution, output_format };
}

function videoData(
  stored: StoredVideo,
  state: JobProgress,
  resultUrl: string | undefined,
): VideoJob['data'] {
  const { size, seconds } = stored;
  return { ...taskData(stored, state, resultUrl), size, seconds };
}

function taskData(
  { createdAt, model, seed, width, height, references, prompt }: StoredImage | StoredVideo,
  state: JobProgress,
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
  'Sandbox rendering: a card with the prompt and references; no image or video model was used';

function noticesOf(prompt: string): string[] {
  const { lacking } = titleOf(prompt);
  if (lacking === 0) return [SANDBOX_NOTICE];
  const some = lacking === 1 ? '1 character' : `${lacking} characters`;
  return [SANDBOX_NOTICE, `The title leaves out ${some} of the prompt that its font does not have`];
}

/** Maps each job status to its name in the media API (docs/api/lip-sync.md). Media jobs are never `partial`. */
export const MEDIA_STATUS = {
  pending: 'pending',
  processing: 'processing',
  done: 'completed',
  partial: 'completed',
  failed: 'failed',
} as const satisfies Readonly<Record<StoredStatus, string>>;

/** Returns the error of a failed media job; `undefined` for other jobs. */
export function mediaError({
  errorCode: code = 'ERR_GENERATION_FAILED',
  errorMessage: message = 'The job failed after too many attempts and was refunded',
  status,
}: JobProgress) {
  return status === 'failed' ? { code, message } : undefined;
}

const MESSAGES: Readonly<Record<MediaJobStatus, string>> = {
  pending: 'The job was accepted',
  processing: 'The job is in progress',
  completed: 'The job is done',
  failed: 'The job failed and was refunded',
};

/** Handles `GET /media/models` (docs/api/media.md): lists the image and video models with their sizes and prices. */
export const getMediaModels: Handler<'getMediaModels'> = ({ query, requestId }, { catalogue }) => {
  const { mediaType } = query;
  const models = [...IMAGE_MODELS, ...VIDEO_MODELS]
    .filter((model) => mediaType === undefined || model.media_type === mediaType)
    .map((model) => ({ ...model, available: catalogue.isAvailable(model.id) }));
  const body: MediaModels = { models, requestId };
  return Response.json(body);
};

/**
 * Handles the signed link `GET /api/open/media/files/{fileId}`: sends a file that a media job made (embedded service
 * only).
 */
export const getMediaFile: Handler<'getMediaFile'> = async (call, context) => {
  const { media, store } = context;
  const { fileId } = call.parameters;
  requireSigned(call, context, { taskId: fileId, download: false });
  const record = store.read((db) => readMediaFile(db, fileId));
  const file = record && (await media.folder.find(record.folder, record.name));
  if (record === undefined || file === undefined) {
    throw new ServiceError('ERR_MEDIA_NOT_FOUND', 'The file has expired');
  }
  const [extension = ''] = /\.\w+$/.exec(record.name) ?? [];
  const { contentType } = record;
  return storedFileResponse(call, file, { contentType, name: `${fileId}${extension}` });
};
