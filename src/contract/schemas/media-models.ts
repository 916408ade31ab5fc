import { Type } from 'typebox';
import type { Static } from 'typebox';
import { RESOLUTIONS } from '../values.ts';

/** What can be made besides speech (docs/api/media.md). */
export const MEDIA_TYPES = ['image', 'video'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export { RESOLUTIONS };
export type Resolution = (typeof RESOLUTIONS)[number];

/** Width to height; which there are is ours. */
export const ASPECT_RATIOS = ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '21:9'] as const;
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

const Pixels = Type.Integer({ minimum: 2, multipleOf: 2 });
const Quote = {
  credits: Type.Integer({ minimum: 0, description: 'What a job of this variant costs' }),
  reference_limit: Type.Integer({ minimum: 0, description: 'How many references it takes' }),
};

/** One way of making an image, with its price (shape chosen by us). */
export const ImageVariant = Type.Object(
  {
    aspect_ratio: Type.Enum([...ASPECT_RATIOS]),
    resolution: Type.Enum([...RESOLUTIONS]),
    width: Pixels,
    height: Pixels,
    ...Quote,
  },
  { $id: 'ImageVariant' },
);
export type ImageVariant = Static<typeof ImageVariant>;

/** One way of making a video, with its price (shape chosen by us). */
export const VideoVariant = Type.Object(
  {
    size: Type.String({ pattern: '^\\d+x\\d+$', description: 'Width x height in pixels' }),
    seconds: Type.Integer({ minimum: 1 }),
    width: Pixels,
    height: Pixels,
    ...Quote,
  },
  { $id: 'VideoVariant' },
);
export type VideoVariant = Static<typeof VideoVariant>;

const Available = Type.Boolean({ description: 'Only these may be used' });
const Model = { id: Type.String(), available: Available };

/** A model of images; the first variant is the default. */
export const ImageModel = Type.Object(
  { ...Model, media_type: Type.Literal('image'), variants: Type.Array(ImageVariant) },
  { $id: 'ImageModel' },
);
export type ImageModel = Static<typeof ImageModel>;

/** A model of videos; the first variant is the default. */
export const VideoModel = Type.Object(
  { ...Model, media_type: Type.Literal('video'), variants: Type.Array(VideoVariant) },
  { $id: 'VideoModel' },
);
export type VideoModel = Static<typeof VideoModel>;

/** Answer to `GET /media/models` (docs/api/media.md; shape chosen by us). */
export const MediaModels = Type.Object(
  { models: Type.Array(Type.Union([ImageModel, VideoModel])), requestId: Type.String() },
  { $id: 'MediaModels' },
);
export type MediaModels = Static<typeof MediaModels>;

/** Query of `GET /media/models` (docs/api/media.md). */
export const MediaModelsQuery = Type.Object(
  { mediaType: Type.Optional(Type.Enum([...MEDIA_TYPES], { description: 'Only these' })) },
  { $id: 'MediaModelsQuery', additionalProperties: false },
);
export type MediaModelsQuery = Static<typeof MediaModelsQuery>;
