import { availableParallelism } from 'node:os';
import type { SharpConstructor } from 'sharp';
import type { TaskTools } from '../child/messages.ts';
import type { Drawing } from '../pictures/compose-scene.ts';
import { composeScene } from '../pictures/compose-scene.ts';
import { composeLettering } from '../pictures/lettering/compose-lettering.ts';
import { titleOf } from '../pictures/lettering/title.ts';
import { openReference } from '../pictures/open-reference.ts';
import { openSharp } from '../pictures/open-sharp.ts';
import type { VideoOrder } from '../pictures/picture-orders.ts';
import { ROOM_TO_MOVE } from './camera.ts';
import { encodeInThread } from './encoding-thread.ts';
import type { Footage } from './footage.ts';
import { FRAMES_PER_SECOND } from './footage.ts';
import { frameRanges } from './frame-ranges.ts';
import type { I420 } from './i420.ts';
import { toI420 } from './i420.ts';
import { joinParts } from './join-parts.ts';
import type { Overlay } from './overlay.ts';
import { toOverlay } from './overlay.ts';
import { enlarged } from './resample.ts';

/** More would take memory faster than they save time. */
const MAX_THREADS = 4;

/** What is left to do when all frames are encoded. */
const ENCODED = 0.95;

/**
 * Makes a video into its file (docs/api/media.md): a camera that moves over the scene of the prompt, or over a
 * first reference, which becomes the second if there is one; the title stays in its place.
 * @throws the system's error when the file cannot be written, and what goes wrong in a thread
 */
export async function makeVideo(order: VideoOrder, tools: TaskTools): Promise<void> {
  const { encoderFile, output, prompt, seconds } = order;
  const frames = seconds * FRAMES_PER_SECOND;
  const footage = await shoot(order, frames);
  let done = 0;
  const onFrame = (): void => {
    done += 1;
    tools.progress((done / frames) * ENCODED);
  };
  const ranges = frameRanges(frames, Math.min(availableParallelism(), MAX_THREADS));
  const parts = await Promise.all(
    ranges.map((range) => encodeInThread(encoderFile, { footage, range }, onFrame)),
  );
  await joinParts({ parts, seconds, title: titleOf(prompt).text, output });
}

async function shoot(order: VideoOrder, frames: number): Promise<Footage> {
  const { width, height, seed, references } = order;
  const sharp = await openSharp();
  const [first, last] = references;
  return {
    width,
    height,
    frames,
    seed,
    first: await stage(sharp, order, first),
    last: last === undefined ? undefined : await stage(sharp, order, last),
    overlay: await lettering(sharp, order),
  };
}

/** What the camera moves over: a reference, else the scene of the prompt. */
async function stage(
  sharp: SharpConstructor,
  order: VideoOrder,
  reference: string | undefined,
): Promise<I420> {
  const size = enlarged(order, ROOM_TO_MOVE);
  const picture =
    reference === undefined
      ? await composeScene(sharp, { ...order, ...size })
      : openReference(sharp, reference)
          .resize({ ...size, fit: 'cover' })
          .flatten({ background: '#ffffff' });
  const rgb = await picture.toColourspace('srgb').removeAlpha().raw().toBuffer();
  return toI420(rgb, size);
}

async function lettering(sharp: SharpConstructor, drawing: Drawing): Promise<Overlay> {
  const { width, height } = drawing;
  const layers = await composeLettering(sharp, drawing);
  // The first layer is what lies under the letters, and nothing is above it.
  const top = Math.floor((layers[0]?.top ?? 0) / 2) * 2;
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  const all = await sharp({ create: { width, height, channels: 4, background } })
    .composite(layers)
    .raw()
    .toBuffer();
  return toOverlay(all.subarray(top * width * 4), { width, height: height - top }, top);
}
