import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ImageRequest, Resolution, VideoRequest } from '../../../contract/media.ts';
import { ASPECT_RATIOS, PICTURE_FORMATS, RESOLUTIONS, SEED_MAX } from '../../../contract/media.ts';
import { anyOf, showText } from '../../http/validation.ts';
import { storedOrder } from '../../jobs/job-records.ts';
import { invalidRequest, ServiceError } from '../../service-error.ts';
import { FRAMES_PER_SECOND, IMAGE_MODELS, VIDEO_MODELS } from '../catalogue/picture-models.ts';
import type { RunTask } from '../child/run-task.ts';
import type { ImportSubject } from '../import/import-failure.ts';
import { inspectionFailure } from '../import/import-failure.ts';
import type { MediaWork, MediaWorkTools } from '../media-jobs.ts';
import type { ImageParameters } from './card.ts';
import { seedOf } from './card.ts';
import type { ReferenceOrder } from './reference.ts';
import type { VideoParameters } from './video.ts';

const Stored = {
  prompt: Type.String({ minLength: 1 }),
  model: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: SEED_MAX }),
  width: Type.Integer({ minimum: 2 }),
  height: Type.Integer({ minimum: 2 }),
  /** Creation time of the job, in milliseconds since the epoch. */
  createdAt: Type.Integer({ minimum: 0 }),
  /** File names of the reference images, in the folder of the job. */
  references: Type.Array(Type.String()),
};

export const StoredImage = Type.Object({
  ...Stored,
  aspect_ratio: Type.Enum([...ASPECT_RATIOS]),
  resolution: Type.Enum([...RESOLUTIONS]),
  output_format: Type.Enum([...PICTURE_FORMATS]),
});
export type StoredImage = Static<typeof StoredImage>;

export const StoredVideo = Type.Object({
  ...Stored,
  size: Type.String(),
  seconds: Type.Integer({ minimum: 1 }),
});
export type StoredVideo = Static<typeof StoredVideo>;

/** A validated request for an image or a video, before its reference images are imported. */
export interface PicturePlan<Stored> {
  /**
   * Returns the job parameters to store.
   * @param references file names of the imported images
   * @param createdAt milliseconds since the epoch
   */
  toStore(references: string[], createdAt: number): Stored;
  /** URLs of the reference images, each with the path of the request field that contains the URL. */
  readonly urls: readonly { readonly field: string; readonly url: string }[];
  readonly credits: number;
}

export type IsAvailable = (modelId: string) => boolean;

/**
 * Validates a request for an image and computes the price (docs/api/media.md).
 * @throws ServiceError 400 for an unknown model, an unsupported variant or too many references; 503 for an unavailable
 * model
 */
export function planImage(
  request: ImageRequest,
  isAvailable: IsAvailable,
): PicturePlan<StoredImage> {
  const { id, variants } = requireModel(request, IMAGE_MODELS, isAvailable);
  const { aspect_ratio = '1:1', resolution = '1k', output_format = 'png' } = request;
  const offered = [...new Set(variants.map((one): Resolution => one.resolution))];
  if (!offered.includes(resolution)) {
    throw refuse('resolution', `resolution is ${resolution}; ${id} supports ${anyOf(offered)}`);
  }
  const variant = variants.find(
    (one) => one.resolution === resolution && one.aspect_ratio === aspect_ratio,
  );
  if (variant === undefined) {
    throw refuse(
      'aspect_ratio',
      `${id} does not support the aspect_ratio ${aspect_ratio} at ${resolution}`,
    );
  }
  const { picture, ...plan } = planOf(request, variant, `${id} at ${resolution}`);
  const chosen = { ...picture, aspect_ratio, resolution, output_format };
  return { ...plan, toStore: (references, createdAt) => ({ ...chosen, references, createdAt }) };
}

/**
 * Validates a request for a video and computes the price (docs/api/media.md).
 * @throws ServiceError 400 for an unknown model, an unsupported size or duration, or too many references; 503 for an
 * unavailable model
 */
export function planVideo(
  request: VideoRequest,
  isAvailable: IsAvailable,
): PicturePlan<StoredVideo> {
  const { id, variants } = requireModel(request, VIDEO_MODELS, isAvailable);
  const sizes = [...new Set(variants.map((one) => one.size))];
  const lengths = [...new Set(variants.map((one) => one.seconds))];
  const { size = sizes[0] ?? '', seconds = lengths[0] ?? 0 } = request;
  if (!sizes.includes(size)) {
    throw refuse('size', `size is ${showText(size)}; ${id} supports ${anyOf(sizes)}`);
  }
  const variant = variants.find((one) => one.size === size && one.seconds === seconds);
  if (variant === undefined) {
    const allowed = anyOf(lengths.toSorted((a, b) => a - b).map(String));
    throw refuse('seconds', `seconds is ${seconds}; ${id} supports ${allowed}`);
  }
  const { picture, ...plan } = planOf(request, variant, id);
  const chosen = { ...picture, size, seconds: variant.seconds };
  return { ...plan, toStore: (references, createdAt) => ({ ...chosen, references, createdAt }) };
}

type PictureRequest = ImageRequest | VideoRequest;

function requireModel<Model extends { readonly id: string }>(
  { model: id }: PictureRequest,
  models: readonly Model[],
  isAvailable: IsAvailable,
): Model {
  const model = models.find((one) => one.id === id);
  if (model === undefined) {
    const allowed = anyOf(models.map((one) => one.id));
    throw refuse('model', `model is ${showText(id)}; allowed: ${allowed}`);
  }
  if (isAvailable(id)) return model;
  throw new ServiceError('ERR_MODEL_UNAVAILABLE', `The model ${id} is not available`);
}

function planOf(
  { image_url, image_urls, model, prompt, seed = seedOf(prompt) }: PictureRequest,
  variant: Readonly<Record<'width' | 'height' | 'credits' | 'reference_limit', number>>,
  variantName: string,
) {
  if (image_url !== undefined && image_urls !== undefined) {
    const message = 'image_url and image_urls are both present; use one of them';
    throw refuse('image_urls', message);
  }
  const { credits, height, reference_limit: limit, width } = variant;
  const urls =
    image_url === undefined
      ? (image_urls ?? []).map((url, index) => ({ field: `image_urls.${index}`, url }))
      : [{ field: 'image_url', url: image_url }];
  if (urls.length > limit) {
    const field = image_url === undefined ? 'image_urls' : 'image_url';
    const most = limit === 0 ? 'no references' : `at most ${limit}`;
    throw refuse(field, `${field} has ${urls.length} references; ${variantName} supports ${most}`);
  }
  if (prompt.trim() === '') throw refuse('prompt', 'prompt contains only white space');
  return { picture: { model, prompt, seed, width, height }, urls, credits };
}

function refuse(field: string, message: string): ServiceError {
  return invalidRequest([{ field, message }]);
}

const PIXELS_PER_SECOND = 50_000_000;

/** Estimates how many seconds it takes to make an image or a video. */
export function secondsToMake(stored: StoredImage | StoredVideo): number {
  const frames = 'seconds' in stored ? stored.seconds * FRAMES_PER_SECOND : 1;
  return (stored.width * stored.height * frames) / PIXELS_PER_SECOND;
}

// Many times as long as the largest image and the longest video take on one core.
const IMAGE_DEADLINE_MS = 120_000;
const VIDEO_DEADLINE_MS = 1_200_000;

/**
 * Creates the functions that make the files of image jobs and video jobs.
 * @param fontFile absolute path of the font for titles
 */
export function createPictureWorks(
  fontFile: string,
): Readonly<Record<'image' | 'video', MediaWork>> {
  return {
    async image(job, tools) {
      const stored = storedOrder(StoredImage, job);
      const { output_format: format } = stored;
      const name = `result.${format === 'jpeg' ? 'jpg' : format}`;
      const order: ImageParameters = { ...cardOf(stored, tools, name), fontFile, format };
      await tools.run('image', order, taskOptions(tools, IMAGE_DEADLINE_MS));
      return { name, contentType: `image/${format}`, metadata: {} };
    },
    async video(job, tools) {
      const stored = storedOrder(StoredVideo, job);
      const name = 'result.mp4';
      const { seconds } = stored;
      const order: VideoParameters = { ...cardOf(stored, tools, name), fontFile, seconds };
      await tools.run('video', order, taskOptions(tools, VIDEO_DEADLINE_MS));
      return { name, contentType: 'video/mp4', metadata: {} };
    },
  };
}

function cardOf(
  { prompt, seed, width, height, references }: StoredImage | StoredVideo,
  tools: MediaWorkTools,
  name: string,
) {
  const paths = references.map((reference) => tools.pathOf(reference));
  return { prompt, seed, width, height, references: paths, output: tools.draftOf(name) };
}

function taskOptions({ progress, signal }: MediaWorkTools, deadlineMs: number) {
  return { result: Type.Null(), deadlineMs, signal, onProgress: progress };
}

const INSPECTION_DEADLINE_MS = 30_000;
const Size = Type.Object({ width: Type.Integer(), height: Type.Integer() });

/**
 * Decodes a reference image in the child process for media, before a job is accepted.
 * @throws ServiceError 413, 415 or 422 for an unusable file; 503 when the inspection fails (docs/api/errors.md)
 */
export async function inspectReferenceFile(
  run: RunTask,
  path: string,
  subject: ImportSubject,
  signal: AbortSignal,
): Promise<void> {
  const order: ReferenceOrder = { path };
  const options = { result: Size, deadlineMs: INSPECTION_DEADLINE_MS, signal };
  try {
    await run('inspect-picture', order, options);
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}
