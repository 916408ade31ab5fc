import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import type { MediaTask } from '../child/messages.ts';
import { wholeFile } from '../child/whole-file.ts';
import { makeVideo } from '../video/make-video.ts';
import { drawImage } from './draw-image.ts';
import { inspectReference } from './open-reference.ts';
import { openSharp } from './open-sharp.ts';
import { ImageOrder, ReferenceOrder, VideoOrder } from './picture-orders.ts';

/** What the media child does for images and videos; their orders are checked here again. */

/** Draws an image. */
export const imageTask: MediaTask = async (given) => {
  const order = checked(ImageOrder, given);
  await wholeFile(order.output, () => drawImage(order));
  return null;
};

/** Makes a video. */
export const videoTask: MediaTask = async (given, tools) => {
  const order = checked(VideoOrder, given);
  await wholeFile(order.output, () => makeVideo(order, tools));
  return null;
};

/** Decodes a reference, so that a bad one is known before a job is made of it. */
export const inspectPictureTask: MediaTask = async (order) => {
  const { path } = checked(ReferenceOrder, order);
  return inspectReference(await openSharp(), path);
};

function checked<Schema extends TSchema>(schema: Schema, order: unknown): Static<Schema> {
  if (Check(schema, order)) return order;
  throw new TypeError('the order of this task is not as it should be');
}
