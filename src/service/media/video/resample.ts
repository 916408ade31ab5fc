import type { PictureSize } from '../pictures/picture-size.ts';
import type { View } from './camera.ts';
import type { I420, Plane } from './i420.ts';
import { planesOf } from './i420.ts';

/** Draws what is seen of a picture, to the full size of another. */
export function resample(source: I420, view: View, target: I420): void {
  const from = planesOf(source);
  for (const [index, plane] of planesOf(target).entries()) {
    const part = from[index];
    if (part !== undefined) resamplePlane(part, view, plane);
  }
}

/** Weights are parts of 256. */
const BITS = 8;
const ONE = 1 << BITS;

/** Each pixel is a mixture of the four around its place. */
function resamplePlane(source: Plane, view: View, target: Plane): void {
  const { values, width } = source;
  const columns = steps(view.left, view.scale, source.width, target.width);
  const rows = steps(view.top, view.scale, source.height, target.height);
  for (let row = 0; row < target.height; row += 1) {
    const [above, weight] = [(rows.places[row] ?? 0) * width, rows.weights[row] ?? 0];
    const start = row * target.width;
    for (let column = 0; column < target.width; column += 1) {
      const at = above + (columns.places[column] ?? 0);
      const across = columns.weights[column] ?? 0;
      const high = mix(values[at] ?? 0, values[at + 1] ?? 0, across);
      const low = mix(values[at + width] ?? 0, values[at + width + 1] ?? 0, across);
      target.values[start + column] = (high * (ONE - weight) + low * weight) >> (2 * BITS);
    }
  }
}

function mix(one: number, other: number, weight: number): number {
  return one * (ONE - weight) + other * weight;
}

interface Steps {
  /** The last source pixel before each target pixel; there is always one after it. */
  readonly places: Int32Array;
  /** How much the one after it counts. */
  readonly weights: Int32Array;
}

function steps(begin: number, scale: number, sourceLength: number, targetLength: number): Steps {
  const places = new Int32Array(targetLength);
  const weights = new Int32Array(targetLength);
  for (let index = 0; index < targetLength; index += 1) {
    const exact = (begin + ((index + 0.5) / targetLength) * scale) * sourceLength - 0.5;
    const kept = Math.min(Math.max(exact, 0), sourceLength - 1);
    const place = Math.min(Math.floor(kept), sourceLength - 2);
    places[index] = place;
    weights[index] = Math.round((kept - place) * ONE);
  }
  return { places, weights };
}

/** Lets another picture of the same size shine through. @param amount of the other, 0 to 1 */
export function fade(target: I420, other: I420, amount: number): void {
  const weight = Math.round(amount * ONE);
  for (let at = 0; at < target.bytes.length; at += 1) {
    target.bytes[at] = mix(target.bytes[at] ?? 0, other.bytes[at] ?? 0, weight) >> BITS;
  }
}

/** An even size that is larger by a factor. */
export function enlarged({ width, height }: PictureSize, factor: number): PictureSize {
  const even = (length: number): number => 2 * Math.round((length * factor) / 2);
  return { width: even(width), height: even(height) };
}
