import type { PictureSize } from '../pictures/picture-size.ts';

/**
 * A picture as video encoders take it: brightness for each pixel, colour for each square of four, in
 * limited range (16 to 235, and 16 to 240) by the weights of ITU-R BT.709. Both sides are even.
 */
export interface I420 extends PictureSize {
  /** Brightness, then blue and red difference, one plane after the other; may be shared between threads. */
  readonly bytes: Uint8Array;
}

/** One of the three planes of a picture. */
export interface Plane extends PictureSize {
  readonly values: Uint8Array;
}

/** Bytes of a picture of this size. */
export function i420Bytes({ width, height }: PictureSize): number {
  return (width * height * 3) / 2;
}

/** The planes of a picture, in place. */
export function planesOf({ bytes, width, height }: I420): readonly [Plane, Plane, Plane] {
  const full = width * height;
  const half = { width: width / 2, height: height / 2 };
  return [
    { values: bytes.subarray(0, full), width, height },
    { values: bytes.subarray(full, (full * 5) / 4), ...half },
    { values: bytes.subarray((full * 5) / 4, (full * 3) / 2), ...half },
  ];
}

/**
 * Makes it of three bytes a pixel, in memory that threads can share.
 * @param rgb red, green and blue, row by row
 */
export function toI420(rgb: Uint8Array, size: PictureSize): I420 {
  const { width, height } = size;
  const bytes = new Uint8Array(new SharedArrayBuffer(i420Bytes(size)));
  const [lights, blues, reds] = planesOf({ bytes, ...size });
  for (let at = 0; at < width * height; at += 1) {
    lights.values[at] = lightOf(rgb[at * 3] ?? 0, rgb[at * 3 + 1] ?? 0, rgb[at * 3 + 2] ?? 0);
  }
  const rowBytes = width * 3;
  /** The middle of a square of four pixels, in one of the three colours. */
  const middle = (first: number): number =>
    ((rgb[first] ?? 0) +
      (rgb[first + 3] ?? 0) +
      (rgb[first + rowBytes] ?? 0) +
      (rgb[first + rowBytes + 3] ?? 0)) /
    4;
  for (let row = 0; row < height / 2; row += 1) {
    for (let column = 0; column < width / 2; column += 1) {
      const first = row * 2 * rowBytes + column * 6;
      const [red, green, blue] = [middle(first), middle(first + 1), middle(first + 2)];
      const at = (row * width) / 2 + column;
      blues.values[at] = blueOf(red, green, blue);
      reds.values[at] = redOf(red, green, blue);
    }
  }
  return { bytes, ...size };
}

/** Brightness of a colour, 16 to 235. */
export function lightOf(red: number, green: number, blue: number): number {
  return Math.round(16 + 0.182_586 * red + 0.614_231 * green + 0.062_007 * blue);
}

/** How much bluer a colour is than it is bright, 16 to 240. */
export function blueOf(red: number, green: number, blue: number): number {
  return Math.round(128 - 0.100_644 * red - 0.338_572 * green + 0.439_216 * blue);
}

/** How much redder a colour is than it is bright, 16 to 240. */
export function redOf(red: number, green: number, blue: number): number {
  return Math.round(128 + 0.439_216 * red - 0.398_942 * green - 0.040_274 * blue);
}
