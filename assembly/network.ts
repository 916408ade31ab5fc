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
 * Multiplies R rows of floats with the `columns` rows of `weights` and adds the bias: out[r][c] = sum(x[r] * w[c]) + bias[c]. The rows of `x` begin
 * every `step` floats, so that they may overlap as in a convolution. `depth` is a multiple of 4, `columns` one of 2.
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
