import type { Sharp, SharpConstructor } from 'sharp';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MediaTaskError, requireOrder } from '../child/messages.ts';
import type { MediaTask } from '../child/messages.ts';
import { readFileWith } from '../inspection/open-media.ts';

/** The order to inspect a reference; the path is absolute. */
const ReferenceOrder = Type.Object({ path: Type.String({ minLength: 1 }) });
export type ReferenceOrder = Static<typeof ReferenceOrder>;

/** Decodes a reference in the media child, before a job is made with it. */
export const inspectPictureTask: MediaTask = async (order) => {
  const { path } = requireOrder(ReferenceOrder, order);
  return inspectReference(await openSharp(), path);
};

/** Width and height in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Opens sharp for one picture in a short-lived process: one thread, since more double the memory and save no time. */
export async function openSharp(): Promise<SharpConstructor> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

/** More than nearly any camera takes; a picture above this is refused before it is decoded. */
const REFERENCE_MAX_PIXELS = 50_000_000;

/** A thinner picture needs too many pixels to fill its place on the card. */
const MOST_TIMES_THE_OTHER_SIDE = 100;

/**
 * Decodes a whole reference, so that a damaged one is refused before anything is charged.
 * @returns its size after the rotation in its metadata
 * @throws MediaTaskError `unsupported` for another format, an animation, or a very thin picture; `too-large` for too
 * many pixels; `unreadable` for a damaged file
 */
export async function inspectReference(
  sharp: SharpConstructor,
  path: string,
): Promise<PictureSize> {
  const { fileHead } = await import('../../../audio/decode.ts');
  const start = await readFileWith(path, (file) => fileHead(file, HEAD_BYTES));
  if (!isPicture(Buffer.from(start))) {
    throw new MediaTaskError('unsupported', 'is not a png, jpeg or webp file');
  }
  // Reads the header only, so the limit of pixels is not needed here.
  const head = sharp(path, { limitInputPixels: false, failOn: 'warning' }).metadata();
  const { width, height, pages = 1, autoOrient } = await orUnreadable(head);
  if (pages > 1) throw new MediaTaskError('unsupported', 'is animated');
  if (width * height > REFERENCE_MAX_PIXELS) {
    const limit = `${REFERENCE_MAX_PIXELS / 1e6} million`;
    throw new MediaTaskError('too-large', `has ${width}x${height} pixels; allowed are ${limit}`);
  }
  if (Math.max(width, height) > MOST_TIMES_THE_OTHER_SIDE * Math.min(width, height)) {
    const limit = `one side may be ${MOST_TIMES_THE_OTHER_SIDE} times as long as the other`;
    throw new MediaTaskError('unsupported', `has ${width}x${height} pixels; ${limit}`);
  }
  await orUnreadable(openReference(sharp, path).stats());
  return autoOrient;
}

/** Opens a reference, rotated as its metadata says. */
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

/** Checks the signature: the decoder supports more formats, some of which name other files. */
function isPicture(head: Buffer): boolean {
  const shown = head.toString('latin1');
  return (
    shown.startsWith('\x89PNG\r\n\x1a\n') ||
    shown.startsWith('\xff\xd8\xff') ||
    (shown.startsWith('RIFF') && shown.endsWith('WEBP'))
  );
}
