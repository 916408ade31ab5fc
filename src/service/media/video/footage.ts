import type { PictureSize } from '../pictures/picture-size.ts';
import { fadeAt, viewAt } from './camera.ts';
import type { I420 } from './i420.ts';
import type { Overlay } from './overlay.ts';
import { lay } from './overlay.ts';
import { fade, resample } from './resample.ts';

export const FRAMES_PER_SECOND = 24;

/** Frames from one that stands alone to the next; the parts of a video begin with such a one. */
export const KEY_EVERY = 24;

/** What every frame of a video is made of. It may be sent to threads: its planes are shared. */
export interface Footage extends PictureSize {
  readonly frames: number;
  readonly seed: number;
  /** What the camera moves over; larger than a frame. */
  readonly first: I420;
  /** What it becomes in the end, if that is something else. */
  readonly last?: I420 | undefined;
  readonly overlay: Overlay;
}

/** Draws frames one after the other, each into the same memory. */
export function createFrames(footage: Footage): (number: number) => I420 {
  const { first, last, overlay, seed, frames } = footage;
  const frame = blank(footage);
  const other = last === undefined ? undefined : blank(footage);
  return (number) => {
    const moment = number / Math.max(1, frames - 1);
    const view = viewAt(moment, seed);
    const amount = last === undefined ? 0 : fadeAt(moment);
    if (last !== undefined && amount === 1) resample(last, view, frame);
    else resample(first, view, frame);
    if (last !== undefined && other !== undefined && amount > 0 && amount < 1) {
      resample(last, view, other);
      fade(frame, other, amount);
    }
    lay(overlay, frame);
    return frame;
  };
}

function blank({ width, height }: PictureSize): I420 {
  return { width, height, bytes: new Uint8Array((width * height * 3) / 2) };
}
