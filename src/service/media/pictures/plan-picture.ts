import type { Resolution, ImageRequest, VideoRequest } from '../../../contract/media.ts';
import { invalidRequest, ServiceError } from '../../service-error.ts';
import { anyOf, showText } from '../../http/validation.ts';
import { IMAGE_MODELS, VIDEO_MODELS } from '../catalogue/picture-models.ts';
import { seedOf } from './card.ts';
import type { StoredImage, StoredVideo } from './picture-works.ts';

/** A valid order for an image or a video, before its references are imported. */
export interface PicturePlan<Stored> {
  /** Returns the order to store, with its imported references. */
  toStore(rest: Arrived): Stored;
  /** URLs of its references, in order. */
  readonly urls: readonly ReferenceUrl[];
  readonly credits: number;
}

export interface Arrived {
  /** Names of files in the folder of the job. */
  readonly references: string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface ReferenceUrl {
  /** Field of the request, for error messages. */
  readonly field: string;
  readonly url: string;
}

export type IsAvailable = (modelId: string) => boolean;

/**
 * Decides what image is made and what it costs (docs/api/media.md and docs/api/errors.md).
 * @throws ServiceError 400 for a model that there is not, for what it does not offer and for too many
 * references, 503 for one that is unavailable
 */
export function planImage(
  request: ImageRequest,
  isAvailable: IsAvailable,
): PicturePlan<StoredImage> {
  const model = requireModel(request, IMAGE_MODELS, isAvailable);
  const { aspect_ratio = '1:1', resolution = '1k', output_format = 'png' } = request;
  const offered = [...new Set(model.variants.map((one): Resolution => one.resolution))];
  if (!offered.includes(resolution)) {
    throw refuse('resolution', `resolution is ${resolution}; ${model.id} has ${anyOf(offered)}`);
  }
  const variant = model.variants.find(
    (one) => one.resolution === resolution && one.aspect_ratio === aspect_ratio,
  );
  if (variant === undefined) {
    throw refuse('aspect_ratio', `${model.id} has no aspect_ratio ${aspect_ratio}`);
  }
  const { width, height, credits, reference_limit: limit } = variant;
  const urls = requireReferences(request, `${model.id} at ${resolution}`, limit);
  const common = { ...commonOf(request), width, height };
  const chosen = { ...common, aspect_ratio, resolution, output_format };
  return { toStore: (rest) => ({ ...chosen, ...rest }), urls, credits };
}

/**
 * Decides what video is made and what it costs (docs/api/media.md and docs/api/errors.md). The size and the length are
 * the model's first ones where they are left out.
 * @throws ServiceError as `planImage`
 */
export function planVideo(
  request: VideoRequest,
  isAvailable: IsAvailable,
): PicturePlan<StoredVideo> {
  const model = requireModel(request, VIDEO_MODELS, isAvailable);
  const sizes = [...new Set(model.variants.map((one) => one.size))];
  const lengths = [...new Set(model.variants.map((one) => one.seconds))];
  const { size = sizes[0] ?? '', seconds = lengths[0] ?? 0 } = request;
  if (!sizes.includes(size)) {
    throw refuse('size', `size is ${showText(size)}; ${model.id} has ${anyOf(sizes)}`);
  }
  const variant = model.variants.find((one) => one.size === size && one.seconds === seconds);
  if (variant === undefined) {
    const allowed = anyOf(lengths.toSorted((a, b) => a - b).map(String));
    throw refuse('seconds', `seconds is ${seconds}; ${model.id} has ${allowed}`);
  }
  const { width, height, credits, reference_limit: limit } = variant;
  const urls = requireReferences(request, model.id, limit);
  const common = { ...commonOf(request), width, height };
  const chosen = { ...common, size, seconds: variant.seconds };
  return { toStore: (rest) => ({ ...chosen, ...rest }), urls, credits };
}

type PictureRequest = ImageRequest | VideoRequest;

function commonOf({ model, prompt, seed = seedOf(prompt) }: PictureRequest) {
  if (prompt.trim() === '') throw refuse('prompt', 'prompt has nothing in it but white space');
  return { model, prompt, seed };
}

function requireModel<Model extends { readonly id: string }>(
  { model: id }: PictureRequest,
  models: readonly Model[],
  isAvailable: IsAvailable,
): Model {
  const model = models.find((one) => one.id === id);
  if (model === undefined) {
    const allowed = anyOf(models.map((one) => one.id));
    throw refuse('model', `model is ${showText(id)}; allowed are ${allowed}`);
  }
  if (isAvailable(id)) return model;
  throw new ServiceError('ERR_MODEL_UNAVAILABLE', `The model ${id} is not available`);
}

function requireReferences(
  { image_url, image_urls }: PictureRequest,
  who: string,
  limit: number,
): readonly ReferenceUrl[] {
  if (image_url !== undefined && image_urls !== undefined) {
    const message = 'image_url and image_urls are both given; one of them is allowed';
    throw refuse('image_urls', message);
  }
  const urls =
    image_url === undefined
      ? (image_urls ?? []).map((url, index) => ({ field: `image_urls.${index}`, url }))
      : [{ field: 'image_url', url: image_url }];
  if (urls.length <= limit) return urls;
  const field = image_url === undefined ? 'image_urls' : 'image_url';
  const most = limit === 0 ? 'no references' : `at most ${limit} of them`;
  throw refuse(field, `${field} has ${urls.length}; ${who} takes ${most}`);
}

function refuse(field: string, message: string): ServiceError {
  return invalidRequest([{ field, message }]);
}
