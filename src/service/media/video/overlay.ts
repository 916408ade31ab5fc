import type { PictureSize } from '../pictures/picture-size.ts';
import type { I420, Plane } from './i420.ts';
import { i420Bytes, planesOf, toI420 } from './i420.ts';

/** Something that stays in its place over every frame, from a row on down to the bottom. */
export interface Overlay {
  /** First row; even. */
  readonly top: number;
  readonly picture: I420;
  /** How much it covers, plane by plane, 0 to 255. */
  readonly cover: Uint8Array;
}

/** @param rgba four bytes a pixel, as wide as the frames */
export function toOverlay(rgba: Uint8Array, size: PictureSize, top: number): Overlay {
  const pixels = size.width * size.height;
  const rgb = new Uint8Array(pixels * 3);
  const cover = new Uint8Array(new SharedArrayBuffer(i420Bytes(size)));
  const [full, ...quarters] = planesOf({ bytes: cover, ...size });
  for (let at = 0; at < pixels; at += 1) {
    rgb.set(rgba.subarray(at * 4, at * 4 + 3), at * 3);
    full.values[at] = rgba[at * 4 + 3] ?? 0;
  }
  for (const quarter of quarters) halve(full, quarter);
  return { top, picture: toI420(rgb, size), cover };
}

function halve({ values, width }: Plane, half: Plane): void {
  for (let row = 0; row < half.height; row += 1) {
    for (let column = 0; column < half.width; column += 1) {
      const at = row * 2 * width + column * 2;
      const upper = (values[at] ?? 0) + (values[at + 1] ?? 0);
      const lower = (values[at + width] ?? 0) + (values[at + width + 1] ?? 0);
      half.values[row * half.width + column] = (upper + lower) / 4;
    }
  }
}

/** Lays it over a frame of the same width. */
export function lay({ picture, cover, top }: Overlay, frame: I420): void {
  const covers = planesOf({ ...picture, bytes: cover });
  const overs = planesOf(picture);
  for (const [index, under] of planesOf(frame).entries()) {
    const [over, share] = [overs[index]?.values, covers[index]?.values];
    if (over === undefined || share === undefined) continue;
    const start = (index === 0 ? top : top / 2) * under.width;
    for (let at = 0; at < over.length; at += 1) {
      const part = share[at] ?? 0;
      if (part === 0) continue;
      const below = under.values[start + at] ?? 0;
      under.values[start + at] = below + ((((over[at] ?? 0) - below) * part + 127) >> 8);
    }
  }
}
