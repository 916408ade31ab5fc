import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, QuotaRemaining, RequestId, strict } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { IMPORT_ERRORS } from './endpoint.ts';
import { IMAGE_REFERENCES_MAX, MEDIA_URL_MAX_CHARACTERS, PROMPT_MAX_CHARACTERS } from './limits.ts';
import { MEDIA_ENVELOPE, MEDIA_JOB_FIELDS } from './lip-sync.ts';
import { RESOLUTIONS } from './values.ts';

const MEDIA_TYPES = ['image', 'video'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export { RESOLUTIONS };
export type Resolution = (typeof RESOLUTIONS)[number];

/** Aspect ratios (width to height) of images and videos, which foley defines itself. */
export const ASPECT_RATIOS = ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '21:9'] as const;

const AspectRatio = { description: 'Ratio of width to height' };
const SIZE = { width: 'Width in pixels', height: 'Height in pixels' };
const pixels = (description: string) => Type.Integer({ minimum: 2, multipleOf: 2, description });
const Quote = {
  credits: Type.Integer({
    minimum: 0,
    description: 'Price of a job with this variant, in credits',
  }),
  reference_limit: Type.Integer({
    minimum: 0,
    description: 'Maximum number of reference images',
  }),
};

/** A variant of an image model, with the price. The API does not document these fields; foley defines them itself. */
export const ImageVariant = named('ImageVariant', {
  aspect_ratio: Type.Enum([...ASPECT_RATIOS], AspectRatio),
  resolution: Type.Enum([...RESOLUTIONS], {
    description: 'Size class of the image (1k is the smallest)',
  }),
  width: pixels(SIZE.width),
  height: pixels(SIZE.height),
  ...Quote,
});
export type ImageVariant = Static<typeof ImageVariant>;

/** A variant of a video model, with the price. The API does not document these fields; foley defines them itself. */
export const VideoVariant = named('VideoVariant', {
  size: Type.String({
    pattern: '^\\d+x\\d+$',
    description: 'Width and height of the video in pixels, such as 1280x720',
  }),
  seconds: Type.Integer({ minimum: 1, description: 'Length of the video in seconds' }),
  width: pixels(SIZE.width),
  height: pixels(SIZE.height),
  ...Quote,
});
export type VideoVariant = Static<typeof VideoVariant>;

const Available = Type.Boolean({ description: 'Whether the model can be used' });
const Model = { id: Type.String({ description: 'Model id' }), available: Available };

/** An image model. The first variant in the list is the default. */
export const ImageModel = named('ImageModel', {
  ...Model,
  media_type: Type.Literal('image', { description: 'Always image' }),
  variants: Type.Array(ImageVariant, {
    description: 'Sizes that the model offers, with prices (the first one is the default)',
  }),
});
export type ImageModel = Static<typeof ImageModel>;

/** A video model. The first variant in the list is the default. */
export const VideoModel = named('VideoModel', {
  ...Model,
  media_type: Type.Literal('video', { description: 'Always video' }),
  variants: Type.Array(VideoVariant, {
    description:
      'Sizes and lengths that the model offers, with prices (the first one is the default)',
  }),
});
export type VideoModel = Static<typeof VideoModel>;

// Generated clients need the discriminator: the two kinds of model have the same fields.
const BY_MEDIA_TYPE = {
  discriminator: {
    propertyName: 'media_type',
    mapping: {
      image: '#/components/schemas/ImageModel',
      video: '#/components/schemas/VideoModel',
    },
  },
};

/** Response to `GET /media/models`. docs/api/media.md names no fields; foley defines them itself. */
export const MediaModels = named('MediaModels', {
  models: Type.Array(Type.Union([ImageModel, VideoModel], BY_MEDIA_TYPE), {
    description: 'Image models and video models',
  }),
  requestId: RequestId,
});
export type MediaModels = Static<typeof MediaModels>;

export const MediaModelsQuery = strict('MediaModelsQuery', {
  mediaType: Type.Optional(
    Type.Enum([...MEDIA_TYPES], { description: 'List only models of this media type' }),
  ),
});

/** File formats of images, which foley defines itself. */
export const PICTURE_FORMATS = ['png', 'jpeg', 'webp'] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

export const SEED_MAX = 4_294_967_295;

const Address = Type.String({
  minLength: 1,
  maxLength: MEDIA_URL_MAX_CHARACTERS,
  description: 'http or https URL of a reference image (png, jpeg or webp)',
});

const Order = {
  prompt: Type.String({
    minLength: 1,
    maxLength: PROMPT_MAX_CHARACTERS,
    description: 'Description of the image or video to create',
  }),
  model: Type.String({ minLength: 1, description: 'Model id, from GET /media/models' }),
  image_url: Type.Optional(Address),
  image_urls: Type.Optional(
    Type.Array(Address, {
      minItems: 1,
      maxItems: IMAGE_REFERENCES_MAX,
      description: 'URLs of reference images, in order (cannot be combined with image_url)',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SEED_MAX,
      description:
        'Random seed: the same prompt and seed give the same result (default: derived from the prompt)',
    }),
  ),
};

/** Body of `POST /media/images/jobs` (docs/api/media.md). foley adds the fields `output_format` and `seed`. */
export const ImageRequest = strict('ImageRequest', {
  ...Order,
  aspect_ratio: Type.Optional(Type.Enum([...ASPECT_RATIOS], { default: '1:1', ...AspectRatio })),
  resolution: Type.Optional(
    Type.Enum([...RESOLUTIONS], {
      default: '1k',
      description: 'Size class of the image (some models support only some sizes)',
    }),
  ),
  output_format: Type.Optional(
    Type.Enum([...PICTURE_FORMATS], { default: 'png', description: 'File format of the image' }),
  ),
});
export type ImageRequest = Static<typeof ImageRequest>;

/** Body of `POST /media/videos/jobs` (docs/api/media.md). foley adds the field `seed`. */
export const VideoRequest = strict('VideoRequest', {
  ...Order,
  seconds: Type.Optional(
    Type.Number({ minimum: 1, maximum: 60, description: 'Length of the video in seconds' }),
  ),
  size: Type.Optional(
    Type.String({
      pattern: '^\\d{1,5}x\\d{1,5}$',
      examples: ['1280x720'],
      description: 'Width and height of the video in pixels, such as 1280x720',
    }),
  ),
});
export type VideoRequest = Static<typeof VideoRequest>;

const Task = {
  ...MEDIA_JOB_FIELDS,
  task_id: Type.String({ description: 'Same value as id' }),
  model: Type.String({ description: 'Model id' }),
  seed: Type.Integer({
    minimum: 0,
    maximum: SEED_MAX,
    description: 'Random seed: the same prompt and seed give the same result',
  }),
  width: Type.Integer({ minimum: 2, description: SIZE.width }),
  height: Type.Integer({ minimum: 2, description: SIZE.height }),
  reference_count: Type.Integer({
    minimum: 0,
    description: 'Number of reference images in the request',
  }),
  credits_used: Type.Integer({ minimum: 0, description: 'Charged credits (0 after a refund)' }),
  notices: Type.Array(Type.String(), {
    description: 'Known defects of the result, such as letters missing from the font',
  }),
};

const envelope = {
  ...MEDIA_ENVELOPE,
  requestId: RequestId,
  quotaRemaining: QuotaRemaining,
};

/** Response when an image job is created or polled. foley defines the fields, because the API documents none. */
export const ImageJob = named('ImageJob', {
  ...envelope,
  data: Type.Object(
    {
      ...Task,
      aspect_ratio: Type.Enum([...ASPECT_RATIOS], AspectRatio),
      resolution: Type.Enum([...RESOLUTIONS], {
        description: 'Size class of the image (1k is the smallest)',
      }),
      output_format: Type.Enum([...PICTURE_FORMATS], { description: 'File format of the image' }),
    },
    { description: 'The job' },
  ),
});
export type ImageJob = Static<typeof ImageJob>;

/** Response when a video job is created or polled. foley defines the fields, because the API documents none. */
export const VideoJob = named('VideoJob', {
  ...envelope,
  data: Type.Object(
    {
      ...Task,
      size: Type.String({
        description: 'Width and height of the video in pixels, such as 1280x720',
      }),
      seconds: VideoVariant.properties.seconds,
    },
    { description: 'The job' },
  ),
});
export type VideoJob = Static<typeof VideoJob>;

const CREATE = {
  method: 'POST',
  section: 'media#jobs',
  charges: 'variant',
  repeat: 'replay',
  isKeyRequired: true,
  isAccepted: true,
  errors: [
    ...IMPORT_ERRORS,
    'ERR_REQUEST_ID_CONFLICT',
    'ERR_MODEL_UNAVAILABLE',
    'ERR_MEDIA_IMPORT_UNAVAILABLE',
    'ERR_MEDIA_DOWNLOAD_TIMEOUT',
  ],
} as const;

export const MEDIA_ENDPOINTS = [
  {
    id: 'getMediaModels',
    method: 'GET',
    path: '/api/open/v1/media/models',
    section: 'media#models',
    summary: 'List image and video models with the price of each variant',
    query: MediaModelsQuery,
    success: MediaModels,
    errors: ['ERR_INVALID_REQUEST'],
  },
  {
    ...CREATE,
    id: 'createImageJob',
    path: '/api/open/v1/media/images/jobs',
    summary: 'Create an image job (a retry with the same idempotency key returns the same job)',
    body: ImageRequest,
    success: ImageJob,
  },
  {
    id: 'getImageJob',
    method: 'GET',
    path: '/api/open/v1/media/images/jobs/{jobId}',
    section: 'media#jobs',
    summary: 'Get the progress and result of an image job',
    success: ImageJob,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  {
    ...CREATE,
    id: 'createVideoJob',
    path: '/api/open/v1/media/videos/jobs',
    summary: 'Create a video job (a retry with the same idempotency key returns the same job)',
    body: VideoRequest,
    success: VideoJob,
  },
  {
    id: 'getVideoJob',
    method: 'GET',
    path: '/api/open/v1/media/videos/jobs/{jobId}',
    section: 'media#jobs',
    summary: 'Get the progress and result of a video job',
    success: VideoJob,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
