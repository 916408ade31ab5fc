import { IMAGE_REFERENCES_MAX } from '../../../contract/limits.ts';
import type { ImageModelId, VideoModelId } from '../../../contract/values.ts';
import type { ImageVariant, Resolution } from '../../../contract/media.ts';
import { ASPECT_RATIOS } from '../../../contract/media.ts';

export const FRAMES_PER_SECOND = 24;

const LONGER_SIDE_PIXELS: Readonly<Record<Resolution, number>> = {
  '1k': 1_024,
  '2k': 2_048,
  '4k': 4_096,
};

/**
 * The image models. All of them draw the same placeholder image; the models differ in resolutions, prices and the
 * number of reference images. The first variant of each model is the default (docs/api/media.md).
 */
export const IMAGE_MODELS = [
  imageModel('vendor-image-1-flash', imageVariants('1k', 20, 1)),
  // References at the 1k tier only (docs/api/media.md).
  imageModel('altG-image-1', [
    ...imageVariants('1k', 40, IMAGE_REFERENCES_MAX),
    ...imageVariants('2k', 80, 0),
    ...imageVariants('4k', 160, 0),
  ]),
  // Up to four references at all three tiers (docs/api/media.md).
  imageModel('altH-image-2', [
    ...imageVariants('1k', 60, IMAGE_REFERENCES_MAX),
    ...imageVariants('2k', 120, IMAGE_REFERENCES_MAX),
    ...imageVariants('4k', 240, IMAGE_REFERENCES_MAX),
  ]),
];

function imageModel(id: ImageModelId, variants: ImageVariant[]) {
  return { id, media_type: 'image' as const, variants };
}

function imageVariants(
  resolution: Resolution,
  credits: number,
  referenceLimit: number,
): ImageVariant[] {
  return ASPECT_RATIOS.map((ratio) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    const longer = LONGER_SIDE_PIXELS[resolution];
    const shorter = 2 * Math.round((longer * Math.min(across, down)) / Math.max(across, down) / 2);
    const [width, height] = across >= down ? [longer, shorter] : [shorter, longer];
    const quote = { credits, reference_limit: referenceLimit };
    return { aspect_ratio: ratio, resolution, width, height, ...quote };
  });
}

/** The video models. The first variant of each model is the default (docs/api/media.md). */
export const VIDEO_MODELS = [
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

interface Footage {
  /** Allowed sizes as width and height in pixels, such as `640x360`; the default is first. */
  readonly sizes: readonly string[];
  /** Allowed durations in seconds; the default is first. */
  readonly seconds: readonly number[];
  /** Price in credits per second of video at 1280x720. Other sizes cost in proportion to their number of pixels. */
  readonly creditsPerSecond: number;
  readonly referenceLimit: number;
}

function videoModel(
  id: VideoModelId,
  { sizes, seconds, creditsPerSecond, referenceLimit }: Footage,
) {
  const variants = sizes.flatMap((size) =>
    seconds.map((length) => {
      const [width = 0, height = 0] = size.split('x').map(Number);
      const credits = Math.ceil((creditsPerSecond * length * width * height) / (1_280 * 720));
      return { size, seconds: length, width, height, credits, reference_limit: referenceLimit };
    }),
  );
  return { id, media_type: 'video' as const, variants };
}
