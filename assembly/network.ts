// The arithmetic of neural networks on 128-bit vectors, in AssemblyScript; scripts/build.mjs compiles it. Arguments that
// name memory are byte addresses. A matrix of R rows and C columns has its rows one after the other; C is a multiple of 4.

import { erf, exp, FLOAT, sum } from './vectors';

/** Returns the address after `bytes` that begin at `at`, aligned for vectors; grows the memory to hold them. */
export function reserve(at: usize, bytes: usize): usize {
  const end = (at + bytes + 15) & ~(<usize>15);
  const missing = <i64>end - <i64>((<usize>memory.size()) << 16);
  if (missing > 0 && memory.grow(<i32>((missing + 0xffff) >> 16)) < 0) unreachable();
  return end;
}

/**
 * Changes the order of a matrix of 8-bit weights, in place, to that in which {@link linear} reads them: eight values of one
 * row, then eight of the next. `rows` is a multiple of 2, `depth` a multiple of 8; `free` has room for two rows.
 */
export function pack(weights: usize, free: usize, rows: i32, depth: i32): void {
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
  let low = f32x4.splat(0);
  let high = f32x4.splat(0);
  const end = x + rows * depth * FLOAT;
  for (let at = x; at < end; at += 32) {
    const first = v128.load(at);
    const second = v128.load(at, 16);
    low = f32x4.pmin(f32x4.pmin(low, first), second);
    high = f32x4.pmax(f32x4.pmax(high, first), second);
  }
  const least = min(min(f32x4.extract_lane(low, 0), f32x4.extract_lane(low, 1)), min(f32x4.extract_lane(low, 2), f32x4.extract_lane(low, 3)));
  const most = max(max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1)), max(f32x4.extract_lane(high, 2), f32x4.extract_lane(high, 3)));
  const step: f32 = most == least ? 1 : (most - least) / 255;
  const zero = nearest<f32>(-least / step);
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

@inline
function level(value: v128, scale: v128, bottom: v128, top: v128): v128 {
  const rounded = f32x4.nearest(f32x4.mul(value, scale));
  return i32x4.trunc_sat_f32x4_s(f32x4.pmin(f32x4.pmax(rounded, bottom), top));
}

/**
 * Multiplies R rows of quantized values with the `columns` rows of packed `weights` (`depth` values each, a multiple of 8),
 * scales, and adds the bias: out[r][c] = scales[c] * sum(q[r] * w[c]) + bias[c]. `columns` is a multiple of 2.
 */
export function linear(q: usize, weights: usize, bias: usize, out: usize, rows: i32, depth: i32, columns: i32, scales: usize): void {
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

/** Stores the sums of the lanes of `first` and `second`, each times its scale and plus its start. */
@inline
function putPair(to: usize, first: v128, second: v128, scale: v128, start: v128): void {
  const halves = i32x4.add(v128.shuffle<i32>(first, second, 0, 4, 1, 5), v128.shuffle<i32>(first, second, 2, 6, 3, 7));
  const sums = f32x4.convert_i32x4_s(i32x4.add(halves, v128.shuffle<i32>(halves, halves, 2, 3, 0, 1)));
  v128.store64_lane(to, f32x4.add(f32x4.mul(sums, scale), start), 0);
}

/**
 * The same with floats: out[r][c] = sum(x[r] * w[c]) + bias[c], for rows of `x` that begin every `step` floats, so that
 * rows may overlap as in a convolution. `depth` is a multiple of 4, `columns` one of 2.
 */
export function dense(x: usize, step: i32, weights: usize, bias: usize, out: usize, rows: i32, depth: i32, columns: i32): void {
  const stride = step * FLOAT;
  const length = depth * FLOAT;
  const width = columns * FLOAT;
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    const x0 = x + row * stride;
    const x1 = x0 + stride;
    const x2 = x1 + stride;
    const x3 = x2 + stride;
    for (let column = 0; column < columns; column += 2) {
      const w0 = weights + column * length;
      const w1 = w0 + length;
      let s00 = f32x4.splat(0);
      let s01 = f32x4.splat(0);
      let s10 = f32x4.splat(0);
      let s11 = f32x4.splat(0);
      let s20 = f32x4.splat(0);
      let s21 = f32x4.splat(0);
      let s30 = f32x4.splat(0);
      let s31 = f32x4.splat(0);
      for (let at = 0; at < length; at += 16) {
        const first = v128.load(w0 + at);
        const second = v128.load(w1 + at);
        let four = v128.load(x0 + at);
        s00 = f32x4.add(s00, f32x4.mul(four, first));
        s01 = f32x4.add(s01, f32x4.mul(four, second));
        four = v128.load(x1 + at);
        s10 = f32x4.add(s10, f32x4.mul(four, first));
        s11 = f32x4.add(s11, f32x4.mul(four, second));
        four = v128.load(x2 + at);
        s20 = f32x4.add(s20, f32x4.mul(four, first));
        s21 = f32x4.add(s21, f32x4.mul(four, second));
        four = v128.load(x3 + at);
        s30 = f32x4.add(s30, f32x4.mul(four, first));
        s31 = f32x4.add(s31, f32x4.mul(four, second));
      }
      const start = v128.load64_zero(bias + column * FLOAT);
      const to = out + row * width + column * FLOAT;
      putSums(to, s00, s01, start);
      putSums(to + width, s10, s11, start);
      putSums(to + 2 * width, s20, s21, start);
      putSums(to + 3 * width, s30, s31, start);
    }
  }
  for (; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 2) {
      const w = weights + column * length;
      let first = f32x4.splat(0);
      let second = f32x4.splat(0);
      for (let at = 0; at < length; at += 16) {
        const four = v128.load(x + row * stride + at);
        first = f32x4.add(first, f32x4.mul(four, v128.load(w + at)));
        second = f32x4.add(second, f32x4.mul(four, v128.load(w + length + at)));
      }
      putSums(out + row * width + column * FLOAT, first, second, v128.load64_zero(bias + column * FLOAT));
    }
  }
}

@inline
function putSums(to: usize, first: v128, second: v128, start: v128): void {
  const halves = f32x4.add(v128.shuffle<f32>(first, second, 0, 4, 1, 5), v128.shuffle<f32>(first, second, 2, 6, 3, 7));
  v128.store64_lane(to, f32x4.add(f32x4.add(halves, v128.shuffle<f32>(halves, halves, 2, 3, 0, 1)), start), 0);
}

/**
 * Convolves each column on its own: `taps` rows of weights, `dilation` rows apart, centred; zeros beyond both ends.
 * `columns` is a multiple of 16.
 */
export function depthwise(x: usize, weights: usize, bias: usize, out: usize, rows: i32, columns: i32, taps: i32, dilation: i32): void {
  const width = columns * FLOAT;
  const distance = dilation * width;
  for (let row = 0; row < rows; row += 1) {
    const before = (taps / 2) * dilation;
    // The first and the last tap whose row exists.
    const first = row >= before ? 0 : (before - row + dilation - 1) / dilation;
    const last = min(taps - 1, (rows - 1 - row + before) / dilation);
    const from = x + (row - before) * width + first * distance;
    for (let at = 0; at < width; at += 64) {
      let s0 = v128.load(bias + at);
      let s1 = v128.load(bias + at, 16);
      let s2 = v128.load(bias + at, 32);
      let s3 = v128.load(bias + at, 48);
      let value = from + at;
      let w = weights + first * width + at;
      for (let tap = first; tap <= last; tap += 1, value += distance, w += width) {
        s0 = f32x4.add(s0, f32x4.mul(v128.load(value), v128.load(w)));
        s1 = f32x4.add(s1, f32x4.mul(v128.load(value, 16), v128.load(w, 16)));
        s2 = f32x4.add(s2, f32x4.mul(v128.load(value, 32), v128.load(w, 32)));
        s3 = f32x4.add(s3, f32x4.mul(v128.load(value, 48), v128.load(w, 48)));
      }
      const to = out + row * width + at;
      v128.store(to, s0);
      v128.store(to, s1, 16);
      v128.store(to, s2, 32);
      v128.store(to, s3, 48);
    }
  }
}

/** Layer normalization of each row, with an epsilon of 1e-5. */
export function normalize(x: usize, weights: usize, bias: usize, out: usize, rows: i32, columns: i32): void {
  const width = columns * FLOAT;
  for (let row = 0; row < rows; row += 1) {
    const from = x + row * width;
    let sums = f32x4.splat(0);
    for (let at = 0; at < width; at += 16) sums = f32x4.add(sums, v128.load(from + at));
    const mean = f32x4.splat(sum(sums) / <f32>columns);
    let squares = f32x4.splat(0);
    for (let at = 0; at < width; at += 16) {
      const difference = f32x4.sub(v128.load(from + at), mean);
      squares = f32x4.add(squares, f32x4.mul(difference, difference));
    }
    const scale = f32x4.splat(1 / Mathf.sqrt(sum(squares) / <f32>columns + 1e-5));
    for (let at = 0; at < width; at += 16) {
      const value = f32x4.mul(f32x4.sub(v128.load(from + at), mean), scale);
      v128.store(out + row * width + at, f32x4.add(f32x4.mul(value, v128.load(weights + at)), v128.load(bias + at)));
    }
  }
}

/** Gaussian error linear unit, in place: x * (1 + erf(x / sqrt(2))) / 2. */
export function gelu(x: usize, count: i32): void {
  const half = f32x4.splat(0.5);
  const one = f32x4.splat(1);
  const root = f32x4.splat(0.7071067811865476);
  for (let at = x; at < x + count * FLOAT; at += 16) {
    const value = v128.load(at);
    v128.store(at, f32x4.mul(f32x4.mul(value, half), f32x4.add(one, erf(f32x4.mul(value, root)))));
  }
}

/** x[r] += gamma * y[r] for each row; without gamma (address 0), x[r] += y[r]. */
export function add(x: usize, y: usize, gamma: usize, rows: i32, columns: i32): void {
  const width = columns * FLOAT;
  for (let row = 0; row < rows; row += 1) {
    for (let at = 0; at < width; at += 16) {
      const to = x + row * width + at;
      let value = v128.load(y + row * width + at);
      if (gamma != 0) value = f32x4.mul(value, v128.load(gamma + at));
      v128.store(to, f32x4.add(v128.load(to), value));
    }
  }
}

/**
 * Attention of `heads` heads: `x` has rows of queries, keys and values of `columns` each; `out` has rows of `columns`, a
 * multiple of 16 for each head; `scores` has room for `rows` floats and three more.
 */
export function attend(x: usize, out: usize, scores: usize, rows: i32, columns: i32, heads: i32): void {
  const width = (columns / heads) * FLOAT;
  const stride = 3 * columns * FLOAT;
  const scale: f32 = <f32>1 / Mathf.sqrt(<f32>(columns / heads));
  for (let head = 0; head < heads; head += 1) {
    const queries = x + head * width;
    const keys = queries + columns * FLOAT;
    const values = keys + columns * FLOAT;
    for (let row = 0; row < rows; row += 1) {
      const query = queries + row * stride;
      let most: f32 = -f32.MAX_VALUE;
      for (let other = 0; other < rows; other += 1) {
        const key = keys + other * stride;
        let even = f32x4.splat(0);
        let odd = f32x4.splat(0);
        for (let at = 0; at < width; at += 32) {
          even = f32x4.add(even, f32x4.mul(v128.load(query + at), v128.load(key + at)));
          odd = f32x4.add(odd, f32x4.mul(v128.load(query + at, 16), v128.load(key + at, 16)));
        }
        const score: f32 = sum(f32x4.add(even, odd)) * scale;
        most = max<f32>(most, score);
        store<f32>(scores + other * FLOAT, score);
      }
      // What is beyond the last row counts as nothing.
      v128.store(scores + rows * FLOAT, f32x4.splat(-f32.MAX_VALUE));
      let weights = f32x4.splat(0);
      for (let at = scores; at < scores + rows * FLOAT; at += 16) {
        const weight = exp(f32x4.sub(v128.load(at), f32x4.splat(most)));
        weights = f32x4.add(weights, weight);
        v128.store(at, weight);
      }
      const share = f32x4.splat(<f32>1 / sum(weights));
      const to = out + row * columns * FLOAT + head * width;
      for (let at = 0; at < width; at += 64) {
        let s0 = f32x4.splat(0);
        let s1 = f32x4.splat(0);
        let s2 = f32x4.splat(0);
        let s3 = f32x4.splat(0);
        let value = values + at;
        for (let other = 0; other < rows; other += 1, value += stride) {
          const weight = v128.load32_splat(scores + other * FLOAT);
          s0 = f32x4.add(s0, f32x4.mul(v128.load(value), weight));
          s1 = f32x4.add(s1, f32x4.mul(v128.load(value, 16), weight));
          s2 = f32x4.add(s2, f32x4.mul(v128.load(value, 32), weight));
          s3 = f32x4.add(s3, f32x4.mul(v128.load(value, 48), weight));
        }
        v128.store(to + at, f32x4.mul(s0, share));
        v128.store(to + at, f32x4.mul(s1, share), 16);
        v128.store(to + at, f32x4.mul(s2, share), 32);
        v128.store(to + at, f32x4.mul(s3, share), 48);
      }
    }
  }
}
