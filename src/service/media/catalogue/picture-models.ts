import { IMAGE_REFERENCES_MAX } from '../../../contract/limits.ts';
import type { ImageModelId, VideoModelId } from '../../../contract/values.ts';
import type {
  AspectRatio,
  ImageModel,
  ImageVariant,
  Resolution,
  VideoModel,
  VideoVariant,
} from '../../../contract/media.ts';
import { ASPECT_RATIOS } from '../../../contract/media.ts';

/**
 * Models of images and videos (docs/api/media.md). The spec says how two families of images take
 * references and leaves everything else to the service; all of them draw with the same pencil, and
 * differ so that a client has to look (docs/service.md).
 */

/** Availability is a matter of the running service. */
export type CatalogueImageModel = Omit<ImageModel, 'available'>;
export type CatalogueVideoModel = Omit<VideoModel, 'available'>;

/** Of every video. */
export const FRAMES_PER_SECOND = 24;

/** Pixels of the longer side. */
const LONGER_SIDE: Readonly<Record<Resolution, number>> = { '1k': 1_024, '2k': 2_048, '4k': 4_096 };

interface Tier {
  readonly resolution: Resolution;
  readonly credits: number;
  readonly referenceLimit: number;
}

function imageModel(
  id: ImageModelId,
  tiers: readonly Tier[],
  aspectRatios: readonly AspectRatio[] = ASPECT_RATIOS,
): CatalogueImageModel {
  const variants = tiers.flatMap((tier) => aspectRatios.map((ratio) => imageVariant(tier, ratio)));
  return { id, media_type: 'image', variants };
}

function imageVariant(
  { resolution, credits, referenceLimit }: Tier,
  aspectRatio: AspectRatio,
): ImageVariant {
  const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
  const longer = LONGER_SIDE[resolution];
  const shorter = 2 * Math.round((longer * Math.min(across, down)) / Math.max(across, down) / 2);
  const [width, height] = across >= down ? [longer, shorter] : [shorter, longer];
  const quote = { credits, reference_limit: referenceLimit };
  return { aspect_ratio: aspectRatio, resolution, width, height, ...quote };
}

interface Footage {
  /** Width x height, the default first. */
  readonly sizes: readonly string[];
  /** Lengths, the default first. */
  readonly seconds: readonly number[];
  /** For a second of 1280x720; other sizes by their pixels. */
  readonly creditsPerSecond: number;
  readonly referenceLimit: number;
}

const HD_PIXELS = 1_280 * 720;

function videoModel(id: VideoModelId, footage: Footage): CatalogueVideoModel {
  const { sizes, seconds, creditsPerSecond, referenceLimit } = footage;
  const variants = sizes.flatMap((size) =>
    seconds.map((length): VideoVariant => {
      const [width = 0, height = 0] = size.split('x').map(Number);
      const credits = Math.ceil((creditsPerSecond * length * width * height) / HD_PIXELS);
      return { size, seconds: length, width, height, credits, reference_limit: referenceLimit };
    }),
  );
  return { id, media_type: 'video', variants };
}

const ALL = IMAGE_REFERENCES_MAX;

/** Models of images; each model's first variant is its default. */
export const IMAGE_MODELS: readonly CatalogueImageModel[] = [
  imageModel('vendor-image-1-flash', [{ resolution: '1k', credits: 20, referenceLimit: 1 }]),
  // References at the 1k tier only (docs/api/media.md).
  imageModel('altG-image-1', [
    { resolution: '1k', credits: 40, referenceLimit: ALL },
    { resolution: '2k', credits: 80, referenceLimit: 0 },
    { resolution: '4k', credits: 160, referenceLimit: 0 },
  ]),
  // Up to four references at all three tiers (docs/api/media.md).
  imageModel('altH-image-2', [
    { resolution: '1k', credits: 60, referenceLimit: ALL },
    { resolution: '2k', credits: 120, referenceLimit: ALL },
    { resolution: '4k', credits: 240, referenceLimit: ALL },
  ]),
];

/** Models of videos; each model's first variant is its default. */
export const VIDEO_MODELS: readonly CatalogueVideoModel[] = [
  videoModel('vendor-video-1-flash', {
    sizes: ['640x360', '360x640', '640x640'],
    seconds: [4, 2, 6, 8],
    creditsPerSecond: 80,
    referenceLimit: 1,
  }),
  videoModel('altG-video-2', {
    sizes: [
      '1280x720',
      '720x1280',
      '1024x1024',
      '1792x1024',
      '1024x1792',
      '1920x1080',
      '1080x1920',
    ],
    seconds: [4, 8, 12],
    creditsPerSecond: 100,
    referenceLimit: 2,
  }),
];
