// Products of 8-bit weights and quantized activations, for every machine: as 16-bit numbers. relaxed-products.ts has the same
// functions.

import { FLOAT, level, putPair, setLevels, step, zero } from './vectors';

/**
 * Changes the order of a matrix of 8-bit weights, in place, to that in which {@link linear} reads them: eight values of one
 * row, then eight of the next. `rows` is a multiple of 2, `depth` a multiple of 8; `free` has room for two rows. Does not use
 * `sums`.
 */
export function pack(weights: usize, free: usize, rows: i32, depth: i32, sums: usize): void {
  for (let row = 0; row < rows; row += 2) {
    const at = weights + row * depth;
    memory.copy(free, at, 2 * depth);
    for (let k = 0; k < depth; k += 8) {
      store<i64>(at + 2 * k, load<i64>(free + k));
      store<i64>(at + 2 * k, load<i64>(free + depth + k), 8);
    }
  }
}

/**
 * Quantizes rows of floats to integers of 0 to 255 over the range of all values, as DynamicQuantizeLinear of ONNX does, and
 * writes each integer less the one that stands for 0, as 16 bits: eight values of a row, then eight of each of the next
 * three rows. `depth` is a multiple of 8; `q` has room for a multiple of four rows. Returns the size of one step.
 */
export function quantize(x: usize, rows: i32, depth: i32, q: usize): f32 {
  setLevels(x, x + rows * depth * FLOAT);
  const scale = f32x4.splat(1 / step);
  const bottom = f32x4.splat(-zero);
  const top = f32x4.splat(255 - zero);
  for (let row = 0; row < rows; row += 1) {
    const from = x + row * depth * FLOAT;
    let to = q + ((row & ~3) * depth + (row & 3) * 8) * 2;
    for (let at = from; at < from + depth * FLOAT; at += 32, to += 64) {
      v128.store(to, i16x8.narrow_i32x4_s(level(v128.load(at), scale, bottom, top), level(v128.load(at, 16), scale, bottom, top)));
    }
  }
  return step;
}

/**
 * Multiplies R rows of quantized values with the `columns` rows of packed `weights` (`depth` values each, a multiple of 8),
 * scales, and adds the bias: out[r][c] = scales[c] * sum(q[r] * w[c]) + bias[c]. `columns` is a multiple of 2.
 */
export function linear(q: usize, weights: usize, bias: usize, out: usize, rows: i32, depth: i32, columns: i32, scales: usize, sums: usize): void {
  const width = columns * FLOAT;
  for (let row = 0; row < rows; row += 4) {
    const values = q + row * depth * 2;
    const end = values + depth * 8;
    const count = rows - row;
    let w = weights;
    for (let column = 0; column < width; column += 2 * FLOAT) {
      let s00 = i32x4.splat(0);
      let s01 = i32x4.splat(0);
      let s10 = i32x4.splat(0);
      let s11 = i32x4.splat(0);
      let s20 = i32x4.splat(0);
      let s21 = i32x4.splat(0);
      let s30 = i32x4.splat(0);
      let s31 = i32x4.splat(0);
      for (let at = values; at < end; at += 64, w += 16) {
        const first = v128.load_ext<i8>(w);
        const second = v128.load_ext<i8>(w, 8);
        let eight = v128.load(at);
        s00 = i32x4.add(s00, i32x4.dot_i16x8_s(eight, first));
        s01 = i32x4.add(s01, i32x4.dot_i16x8_s(eight, second));
        eight = v128.load(at, 16);
        s10 = i32x4.add(s10, i32x4.dot_i16x8_s(eight, first));
        s11 = i32x4.add(s11, i32x4.dot_i16x8_s(eight, second));
        eight = v128.load(at, 32);
        s20 = i32x4.add(s20, i32x4.dot_i16x8_s(eight, first));
        s21 = i32x4.add(s21, i32x4.dot_i16x8_s(eight, second));
        eight = v128.load(at, 48);
        s30 = i32x4.add(s30, i32x4.dot_i16x8_s(eight, first));
        s31 = i32x4.add(s31, i32x4.dot_i16x8_s(eight, second));
      }
      const scale = v128.load64_zero(scales + column);
      const start = v128.load64_zero(bias + column);
      const to = out + row * width + column;
      putPair(to, s00, s01, scale, start);
      if (count > 1) putPair(to + width, s10, s11, scale, start);
      if (count > 2) putPair(to + 2 * width, s20, s21, scale, start);
      if (count > 3) putPair(to + 3 * width, s30, s31, scale, start);
    }
  }
}
