// The same functions as in products.ts, by an instruction of relaxed SIMD that multiplies 8-bit numbers. Processors disagree
// about its second operand above 127: `probe` finds out which numbers are multiplied exactly here.

import { FLOAT, level, putPair, setLevels, step, zero } from './vectors';

/** What is taken away from each level, so that its product is exact: 128 where the second operand is signed, or 0. */
let offset: i32 = 0;

/** Returns whether this machine multiplies exactly. Must be called first. */
export function probe(): bool {
  const lowest = i8x16.splat(-128);
  const products = i32x4.relaxed_dot_i8x16_i7x16_add_s(lowest, i8x16.splat(-1), i32x4.splat(0));
  const extreme = i32x4.relaxed_dot_i8x16_i7x16_add_s(lowest, lowest, i32x4.splat(0));
  const isSigned = i32x4.extract_lane(products, 0) == 4 * 128 && i32x4.extract_lane(extreme, 0) == 4 * 128 * 128;
  const isUnsigned = i32x4.extract_lane(products, 0) == -4 * 128 * 255 && i32x4.extract_lane(extreme, 0) == -4 * 128 * 128;
  offset = isSigned ? 128 : 0;
  return isSigned || isUnsigned;
}

/**
 * Changes the order of a matrix of 8-bit weights, in place, to that in which {@link linear} reads them: sixteen values of one
 * row, then sixteen of the next. Writes the sum of each row to `sums`, as 32 bits. `rows` is a multiple of 2, `depth` one of
 * 16; `free` has room for two rows.
 */
export function pack(weights: usize, free: usize, rows: i32, depth: i32, sums: usize): void {
  for (let row = 0; row < rows; row += 2) {
    const at = weights + row * depth;
    memory.copy(free, at, 2 * depth);
    let first = i32x4.splat(0);
    let second = i32x4.splat(0);
    for (let k = 0; k < depth; k += 16) {
      const one = v128.load(free + k);
      const other = v128.load(free + depth + k);
      first = i32x4.add(first, sumsOf(one));
      second = i32x4.add(second, sumsOf(other));
      v128.store(at + 2 * k, one);
      v128.store(at + 2 * k, other, 16);
    }
    store<i32>(sums + row * 4, total(first));
    store<i32>(sums + row * 4, total(second), 4);
  }
}

@inline
function sumsOf(bytes: v128): v128 {
  return i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(bytes));
}

@inline
function total(sums: v128): i32 {
  return i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
}

/**
 * Quantizes rows of floats as the function in products.ts, but writes the levels, less `offset`, as 8 bits: sixteen values of a
 * row, then sixteen of each of the next three rows. `depth` is a multiple of 16. Returns the size of one step.
 */
export function quantize(x: usize, rows: i32, depth: i32, q: usize): f32 {
  setLevels(x, x + rows * depth * FLOAT);
  const scale = f32x4.splat(1 / step);
  const bottom = f32x4.splat(-zero);
  const top = f32x4.splat(255 - zero);
  const start = i16x8.splat(<i16>zero);
  const mask = i8x16.splat(<i8>offset);
  for (let row = 0; row < rows; row += 1) {
    const from = x + row * depth * FLOAT;
    let to = q + (row & ~3) * depth + (row & 3) * 16;
    for (let at = from; at < from + depth * FLOAT; at += 64, to += 64) {
      const first = i16x8.narrow_i32x4_s(level(v128.load(at), scale, bottom, top), level(v128.load(at, 16), scale, bottom, top));
      const second = i16x8.narrow_i32x4_s(level(v128.load(at, 32), scale, bottom, top), level(v128.load(at, 48), scale, bottom, top));
      const levels = i8x16.narrow_i16x8_u(i16x8.add(first, start), i16x8.add(second, start));
      v128.store(to, v128.xor(levels, mask));
    }
  }
  return step;
}

/** Multiplies as the function in products.ts; `depth` is a multiple of 16, and `sums` has the sums of the rows of `weights`. */
export function linear(q: usize, weights: usize, bias: usize, out: usize, rows: i32, depth: i32, columns: i32, scales: usize, sums: usize): void {
  const width = columns * FLOAT;
  const missing = i32x4.splat(offset - <i32>zero);
  for (let row = 0; row < rows; row += 4) {
    const values = q + row * depth;
    const end = values + depth * 4;
    const count = rows - row;
    let w = weights;
    for (let column = 0; column < width; column += 2 * FLOAT) {
      const rest = i32x4.mul(v128.load64_zero(sums + column), missing);
      // The first lane has the rest, so that it is added once.
      const firstRest = v128.shuffle<i32>(rest, i32x4.splat(0), 0, 4, 4, 4);
      const secondRest = v128.shuffle<i32>(rest, i32x4.splat(0), 1, 4, 4, 4);
      let s00 = firstRest;
      let s01 = secondRest;
      let s10 = firstRest;
      let s11 = secondRest;
      let s20 = firstRest;
      let s21 = secondRest;
      let s30 = firstRest;
      let s31 = secondRest;
      for (let at = values; at < end; at += 64, w += 32) {
        const first = v128.load(w);
        const second = v128.load(w, 16);
        let sixteen = v128.load(at);
        s00 = i32x4.relaxed_dot_i8x16_i7x16_add_s(first, sixteen, s00);
        s01 = i32x4.relaxed_dot_i8x16_i7x16_add_s(second, sixteen, s01);
        sixteen = v128.load(at, 16);
        s10 = i32x4.relaxed_dot_i8x16_i7x16_add_s(first, sixteen, s10);
        s11 = i32x4.relaxed_dot_i8x16_i7x16_add_s(second, sixteen, s11);
        sixteen = v128.load(at, 32);
        s20 = i32x4.relaxed_dot_i8x16_i7x16_add_s(first, sixteen, s20);
        s21 = i32x4.relaxed_dot_i8x16_i7x16_add_s(second, sixteen, s21);
        sixteen = v128.load(at, 48);
        s30 = i32x4.relaxed_dot_i8x16_i7x16_add_s(first, sixteen, s30);
        s31 = i32x4.relaxed_dot_i8x16_i7x16_add_s(second, sixteen, s31);
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
