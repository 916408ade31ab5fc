import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PICTURE_FORMATS, SEED_MAX, ASPECT_RATIOS, RESOLUTIONS } from '../../../contract/media.ts';
import { FRAMES_PER_SECOND } from '../catalogue/picture-models.ts';
import type { RunTask } from '../child/run-task.ts';
import type { ImportSubject } from '../import/import-failure.ts';
import { inspectionFailure } from '../import/import-failure.ts';
import { storedOrder } from '../../jobs/job-records.ts';
import type { MediaWork, MediaWorkTools } from '../media-jobs.ts';
import type { ImageOrder } from './card.ts';
import type { ReferenceOrder } from './reference.ts';
import type { VideoOrder } from './video.ts';

const Stored = {
  prompt: Type.String({ minLength: 1 }),
  model: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: SEED_MAX }),
  width: Type.Integer({ minimum: 2 }),
  height: Type.Integer({ minimum: 2 }),
  /** Milliseconds since the epoch, as in the create's response. */
  createdAt: Type.Integer({ minimum: 0 }),
  /** Names of files in the folder of the job. */
  references: Type.Array(Type.String()),
};

/** Stored order of an image. */
export const StoredImage = Type.Object({
  ...Stored,
  aspect_ratio: Type.Enum([...ASPECT_RATIOS]),
  resolution: Type.Enum([...RESOLUTIONS]),
  output_format: Type.Enum([...PICTURE_FORMATS]),
});
export type StoredImage = Static<typeof StoredImage>;

/** Stored order of a video. */
export const StoredVideo = Type.Object({
  ...Stored,
  size: Type.String(),
  seconds: Type.Integer({ minimum: 1 }),
});
export type StoredVideo = Static<typeof StoredVideo>;

/** Estimated pixels that are drawn and encoded in a second. */
const PIXELS_PER_SECOND = 50_000_000;

/** Estimates the seconds to make an image or a video. */
export function secondsToMake(stored: StoredImage | StoredVideo): number {
  const frames = 'seconds' in stored ? stored.seconds * FRAMES_PER_SECOND : 1;
  return (stored.width * stored.height * frames) / PIXELS_PER_SECOND;
}

/** Many times what the largest image and the longest video take on one core. */
const IMAGE_DEADLINE_MS = 120_000;
const VIDEO_DEADLINE_MS = 1_200_000;

/**
 * Returns the works for images and videos.
 * @param fontFile absolute path
 */
export function createPictureWorks(
  fontFile: string,
): Readonly<Record<'image' | 'video', MediaWork>> {
  return {
    async image(job, tools) {
      const stored = storedOrder(StoredImage, job);
      const { output_format: format } = stored;
      const name = `result.${format === 'jpeg' ? 'jpg' : format}`;
      const order: ImageOrder = { ...drawingOf(stored, tools, name), fontFile, format };
      await tools.run('image', order, options(tools, IMAGE_DEADLINE_MS));
      return { name, contentType: `image/${format}`, metadata: {} };
    },
    async video(job, tools) {
      const stored = storedOrder(StoredVideo, job);
      const { seconds } = stored;
      const name = 'result.mp4';
      const order: VideoOrder = { ...drawingOf(stored, tools, name), fontFile, seconds };
      await tools.run('video', order, options(tools, VIDEO_DEADLINE_MS));
      return { name, contentType: 'video/mp4', metadata: {} };
    },
  };
}

function drawingOf(
  { prompt, seed, width, height, references }: StoredImage | StoredVideo,
  tools: MediaWorkTools,
  name: string,
) {
  const paths = references.map((reference) => tools.pathOf(reference));
  return { prompt, seed, width, height, references: paths, output: tools.draftOf(name) };
}

function options(tools: MediaWorkTools, deadlineMs: number) {
  const onProgress = (fraction: number): void => tools.progress(fraction);
  return { result: Type.Null(), deadlineMs, signal: tools.signal, onProgress };
}

export interface ReferenceInspecting extends ImportSubject {
  readonly path: string;
  readonly signal: AbortSignal;
}

const INSPECTION_DEADLINE_MS = 30_000;

const Size = Type.Object({ width: Type.Integer(), height: Type.Integer() });

/**
 * Decodes a reference in a process of its own, before a job is made with it.
 * @throws ServiceError 413, 415 or 422 for an unusable file; 503 when it cannot be inspected now (docs/api/errors.md)
 */
export async function inspectReferenceFile(
  run: RunTask,
  { path, signal, ...subject }: ReferenceInspecting,
): Promise<void> {
  const order: ReferenceOrder = { path };
  const inspecting = { result: Size, deadlineMs: INSPECTION_DEADLINE_MS, signal };
  try {
    await run('inspect-picture', order, inspecting);
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}
