import type { Sharp, SharpConstructor } from 'sharp';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MediaTaskError, requireTaskParameters } from '../child/messages.ts';
import type { MediaTask } from '../child/messages.ts';
import { readFileWith } from '../inspection/open-media.ts';

const ReferenceOrder = Type.Object({ path: Type.String({ minLength: 1 }) });
export type ReferenceOrder = Static<typeof ReferenceOrder>;

/** Decodes a reference image before a job is accepted. Runs in the child process for media. */
export const inspectPictureTask: MediaTask = async (order) => {
  const { path } = requireTaskParameters(ReferenceOrder, order);
  return inspectReference(await openSharp(), path);
};

/** Width and height of a picture in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Loads the image library sharp with one thread and no cache, which saves memory in a short-lived process. */
export async function openSharp(): Promise<SharpConstructor> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

// Larger images are refused before they are decoded.
const REFERENCE_MAX_PIXELS = 50_000_000;

// A thinner image would need too many pixels.
const MAX_ASPECT_RATIO = 100;

/**
 * Decodes a complete reference image, to refuse a damaged file before anything is charged.
 * @returns the size after the rotation that the metadata declares
 * @throws MediaTaskError with the reason `unsupported`, `too-large` or `unreadable`
 */
export async function inspectReference(
  sharp: SharpConstructor,
  path: string,
): Promise<PictureSize> {
  const { fileHead } = await import('../../../audio/sound.ts');
  const start = await readFileWith(path, (file) => fileHead(file, HEAD_BYTES));
  if (!hasSignature(Buffer.from(start))) {
    throw new MediaTaskError('unsupported', 'is not a png, jpeg or webp file');
  }
  // Only the header is read, so no limit of pixels is needed.
  const head = sharp(path, { limitInputPixels: false, failOn: 'warning' }).metadata();
  const { width, height, pages = 1, autoOrient } = await orUnreadable(head);
  if (pages > 1) throw new MediaTaskError('unsupported', 'is animated');
  if (width * height > REFERENCE_MAX_PIXELS) {
    const limit = `${REFERENCE_MAX_PIXELS / 1e6} million`;
    throw new MediaTaskError(
      'too-large',
      `has ${width}x${height} pixels; allowed: up to ${limit} pixels`,
    );
  }
  if (Math.max(width, height) > MAX_ASPECT_RATIO * Math.min(width, height)) {
    const limit = `one side may be at most ${MAX_ASPECT_RATIO} times as long as the other`;
    throw new MediaTaskError('unsupported', `has ${width}x${height} pixels; ${limit}`);
  }
  await orUnreadable(openReference(sharp, path).stats());
  return autoOrient;
}

/** Opens a reference image, rotated as its metadata declares. */
export function openReference(sharp: SharpConstructor, path: string): Sharp {
  return sharp(path, { limitInputPixels: REFERENCE_MAX_PIXELS, failOn: 'warning' }).autoOrient();
}

async function orUnreadable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    throw new MediaTaskError('unreadable', 'is damaged', cause);
  }
}

const HEAD_BYTES = 12;

// The decoder also supports formats that can include other files.
function hasSignature(head: Buffer): boolean {
  const shown = head.toString('latin1');
  return (
    shown.startsWith('\x89PNG\r\n\x1a\n') ||
    shown.startsWith('\xff\xd8\xff') ||
    (shown.startsWith('RIFF') && shown.endsWith('WEBP'))
  );
}
