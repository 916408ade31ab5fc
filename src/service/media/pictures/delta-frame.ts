import type { PictureSize } from './reference.ts';

/** The pixels of a frame that differ from the frame before: a rectangle down to the lower edge. */
export interface ChangedPixels {
  readonly top: number;
  readonly left: number;
  /** Exclusive. */
  readonly right: number;
}

/** Width and height of a macroblock in pixels. */
const SIZE = 16;
/** The macroblock type I_PCM, in a P slice. */
const I_PCM = 30;

/**
 * Encodes a frame as its changes: changed macroblocks as raw samples (I_PCM), all others skipped (ITU-T H.264, 7.3.3
 * to 7.3.5). The slice header matches the parameter sets of h264-mp4-encoder.
 *
 * Emulation prevention is not needed: no sample is below 16, and a skip run below 2^14 has fewer than 16 zero bits.
 * @param planes the frame in I420
 * @param number frames since the key frame, from 1 to 31
 * @returns a NAL unit with its length in front
 */
export function deltaFrame(
  planes: Uint8Array,
  { width, height }: PictureSize,
  { top, left, right }: ChangedPixels,
  number: number,
): Uint8Array {
  const [columns, rows] = [Math.ceil(width / SIZE), Math.ceil(height / SIZE)];
  // nal_ref_idc 3, nal_unit_type 1
  const bytes = [0x61];
  // first_mb_in_slice 0, slice_type P, parameter set 0, frame_num, slice_qp_delta 0, no deblocking
  let bits = `111${number.toString(2).padStart(5, '0')}0001010`;
  const flush = (): void => {
    for (const octet of bits.match(/.{1,8}/g) ?? [])
      bytes.push(Number(`0b${octet.padEnd(8, '0')}`));
    bits = '';
  };
  let next = 0;
  for (let row = Math.floor(top / SIZE); row < rows; row += 1) {
    for (let column = Math.floor(left / SIZE); column * SIZE < right; column += 1) {
      const block = row * columns + column;
      bits += golomb(block - next) + golomb(I_PCM);
      flush();
      bytes.push(...samplesOf(planes, { width, height }, row, column));
      next = block + 1;
    }
  }
  if (next < rows * columns) bits += golomb(rows * columns - next);
  bits += '1';
  flush();
  const unit = Buffer.alloc(4 + bytes.length);
  unit.writeUInt32BE(bytes.length);
  unit.set(bytes, 4);
  return unit;
}

/** Returns the bits of ue(v), an Exp-Golomb code. */
function golomb(value: number): string {
  const bits = (value + 1).toString(2);
  return bits.padStart(2 * bits.length - 1, '0');
}

/** Returns a macroblock of each plane: Y, Cb, Cr. Beyond the picture its edge repeats. */
function samplesOf(
  planes: Uint8Array,
  { width, height }: PictureSize,
  row: number,
  column: number,
): number[] {
  const pixels = width * height;
  const samples: number[] = [];
  for (const { start, scale } of [
    { start: 0, scale: 1 },
    { start: pixels, scale: 2 },
    { start: pixels * 1.25, scale: 2 },
  ]) {
    const [across, down, size] = [width / scale, height / scale, SIZE / scale];
    for (let y = row * size; y < (row + 1) * size; y += 1) {
      for (let x = column * size; x < (column + 1) * size; x += 1)
        samples.push(planes[start + Math.min(y, down - 1) * across + Math.min(x, across - 1)] ?? 0);
    }
  }
  return samples;
}
