import type { FrameRange } from './encode-frames.ts';
import { KEY_EVERY } from './footage.ts';

/**
 * Cuts a video into about equal ranges, each of which begins where a frame stands alone. There are as many as
 * `parts`, or fewer for a short video.
 */
export function frameRanges(frames: number, parts: number): readonly FrameRange[] {
  const keys = Math.ceil(frames / KEY_EVERY);
  const count = Math.min(parts, keys);
  const starts = Array.from({ length: count + 1 }, (_, index) =>
    Math.min(frames, Math.round((keys * index) / count) * KEY_EVERY),
  );
  return starts.slice(1).map((to, index) => ({ from: starts[index] ?? 0, to }));
}
