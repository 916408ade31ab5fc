/** Models of images (ours: the spec gives no names for them). */
export const IMAGE_MODEL_IDS = ['vendor-image-1-flash', 'altG-image-1', 'altH-image-2'] as const;
export type ImageModelId = (typeof IMAGE_MODEL_IDS)[number];

/** Models of videos (ours). */
export const VIDEO_MODEL_IDS = ['vendor-video-1-flash', 'altG-video-2'] as const;
export type VideoModelId = (typeof VIDEO_MODEL_IDS)[number];
