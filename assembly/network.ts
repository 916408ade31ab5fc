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
 * Quantizes `count` floats to integers of 0 to 255 over the range of the values, and writes each integer less the one
 * that stands for 0, as 16 bits: DynamicQuantizeLinear of ONNX. Returns the size of one step.
 */
export function quantize(x: usize, count: i32, q: usize): f32 {
  let low = f32x4.splat(0);
  let high = f32x4.splat(0);
  const end = x + count * FLOAT;
  for (let at = x; at < end; at += 16) {
    const value = v128.load(at);
    low = f32x4.min(low, value);
    high = f32x4.max(high, value);
  }
  const least = min(min(f32x4.extract_lane(low, 0), f32x4.extract_lane(low, 1)), min(f32x4.extract_lane(low, 2), f32x4.extract_lane(low, 3)));
  const most = max(max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1)), max(f32x4.extract_lane(high, 2), f32x4.extract_lane(high, 3)));
  const step: f32 = most == least ? 1 : (most - least) / 255;
  const zero = f32x4.splat(nearest<f32>(-least / step));
  const steps = f32x4.splat(step);
  const top = f32x4.splat(255);
  const bottom = f32x4.splat(0);
  let to = q;
  for (let at = x; at < end; at += 32, to += 16) {
    const first = level(v128.load(at), steps, zero, bottom, top);
    // The buffers have room for a vector more than the values.
    const second = level(v128.load(at, 16), steps, zero, bottom, top);
    v128.store(to, i16x8.narrow_i32x4_s(first, second));
  }
  return step;
}

@inline
function level(value: v128, steps: v128, zero: v128, bottom: v128, top: v128): v128 {
  const rounded = f32x4.add(f32x4.nearest(f32x4.div(value, steps)), zero);
  const inRange = f32x4.min(f32x4.max(rounded, bottom), top);
  return i32x4.trunc_sat_f32x4_s(f32x4.sub(inRange, zero));
}

/**
 * Multiplies R rows of quantized values with the `columns` rows of `weights` (8 bits, `depth` values each, a multiple of
 * 8), scales, and adds the bias: out[r][c] = scales[c] * sum(q[r] * w[c]) + bias[c]. `columns` is a multiple of 2.
 */
export function linear(q: usize, weights: usize, bias: usize, out: usize, rows: i32, depth: i32, columns: i32, scales: usize): void {
  const stride = depth * 2;
  const width = columns * FLOAT;
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    const a0 = q + row * stride;
    const a1 = a0 + stride;
    const a2 = a1 + stride;
    const a3 = a2 + stride;
    for (let column = 0; column < columns; column += 2) {
      const w0 = weights + column * depth;
      const w1 = w0 + depth;
      let s00 = i32x4.splat(0);
      let s01 = i32x4.splat(0);
      let s10 = i32x4.splat(0);
      let s11 = i32x4.splat(0);
      let s20 = i32x4.splat(0);
      let s21 = i32x4.splat(0);
      let s30 = i32x4.splat(0);
      let s31 = i32x4.splat(0);
      for (let k = 0; k < depth; k += 8) {
        const first = v128.load_ext<i8>(w0 + k);
        const second = v128.load_ext<i8>(w1 + k);
        const at = k * 2;
        let values = v128.load(a0 + at);
        s00 = i32x4.add(s00, i32x4.dot_i16x8_s(values, first));
        s01 = i32x4.add(s01, i32x4.dot_i16x8_s(values, second));
        values = v128.load(a1 + at);
        s10 = i32x4.add(s10, i32x4.dot_i16x8_s(values, first));
        s11 = i32x4.add(s11, i32x4.dot_i16x8_s(values, second));
        values = v128.load(a2 + at);
        s20 = i32x4.add(s20, i32x4.dot_i16x8_s(values, first));
        s21 = i32x4.add(s21, i32x4.dot_i16x8_s(values, second));
        values = v128.load(a3 + at);
        s30 = i32x4.add(s30, i32x4.dot_i16x8_s(values, first));
        s31 = i32x4.add(s31, i32x4.dot_i16x8_s(values, second));
      }
      const m0 = load<f32>(scales + column * FLOAT);
      const m1 = load<f32>(scales + column * FLOAT, 4);
      const b0 = load<f32>(bias + column * FLOAT);
      const b1 = load<f32>(bias + column * FLOAT, 4);
      const to = out + row * width + column * FLOAT;
      store<f32>(to, <f32>total(s00) * m0 + b0);
      store<f32>(to, <f32>total(s01) * m1 + b1, 4);
      store<f32>(to + width, <f32>total(s10) * m0 + b0);
      store<f32>(to + width, <f32>total(s11) * m1 + b1, 4);
      store<f32>(to + 2 * width, <f32>total(s20) * m0 + b0);
      store<f32>(to + 2 * width, <f32>total(s21) * m1 + b1, 4);
      store<f32>(to + 3 * width, <f32>total(s30) * m0 + b0);
      store<f32>(to + 3 * width, <f32>total(s31) * m1 + b1, 4);
    }
  }
  for (; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      let sum = i32x4.splat(0);
      for (let k = 0; k < depth; k += 8) {
        sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(q + row * stride + k * 2), v128.load_ext<i8>(weights + column * depth + k)));
      }
      store<f32>(out + row * width + column * FLOAT, <f32>total(sum) * load<f32>(scales + column * FLOAT) + load<f32>(bias + column * FLOAT));
    }
  }
}

@inline
function total(sums: v128): i32 {
  return i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
}

/**
 * The same with floats: out[r][c] = sum(x[r] * w[c]) + bias[c], for rows of `x` that begin every `step` floats, so that
 * rows may overlap as in a convolution. `depth` is a multiple of 4.
 */
export function dense(x: usize, step: i32, weights: usize, bias: usize, out: usize, rows: i32, depth: i32, columns: i32): void {
  for (let row = 0; row < rows; row += 1) {
    const from = x + row * step * FLOAT;
    for (let column = 0; column < columns; column += 4) {
      const w0 = weights + column * depth * FLOAT;
      const w1 = w0 + depth * FLOAT;
      const w2 = w1 + depth * FLOAT;
      const w3 = w2 + depth * FLOAT;
      let s0 = f32x4.splat(0);
      let s1 = f32x4.splat(0);
      let s2 = f32x4.splat(0);
      let s3 = f32x4.splat(0);
      for (let at = 0; at < depth * FLOAT; at += 16) {
        const values = v128.load(from + at);
        s0 = f32x4.add(s0, f32x4.mul(values, v128.load(w0 + at)));
        s1 = f32x4.add(s1, f32x4.mul(values, v128.load(w1 + at)));
        s2 = f32x4.add(s2, f32x4.mul(values, v128.load(w2 + at)));
        s3 = f32x4.add(s3, f32x4.mul(values, v128.load(w3 + at)));
      }
      const sums = f32x4(sum(s0), sum(s1), sum(s2), sum(s3));
      v128.store(out + (row * columns + column) * FLOAT, f32x4.add(sums, v128.load(bias + column * FLOAT)));
    }
  }
}

/** Convolves each column on its own: `taps` rows of weights, `dilation` rows apart, centred; zeros beyond both ends. */
export function depthwise(x: usize, weights: usize, bias: usize, out: usize, rows: i32, columns: i32, taps: i32, dilation: i32): void {
  const width = columns * FLOAT;
  for (let row = 0; row < rows; row += 1) {
    for (let at = 0; at < width; at += 16) {
      let sums = v128.load(bias + at);
      for (let tap = 0; tap < taps; tap += 1) {
        const from = row + (tap - taps / 2) * dilation;
        if (from < 0 || from >= rows) continue;
        sums = f32x4.add(sums, f32x4.mul(v128.load(x + from * width + at), v128.load(weights + tap * width + at)));
      }
      v128.store(out + row * width + at, sums);
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
 * Attention of `heads` heads: `x` has rows of queries, keys and values of `columns` each; `out` has rows of `columns`;
 * `scores` has room for `rows` floats.
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
      let most: f32 = -f32.MAX_VALUE;
      for (let other = 0; other < rows; other += 1) {
        let products = f32x4.splat(0);
        for (let at = 0; at < width; at += 16) {
          products = f32x4.add(products, f32x4.mul(v128.load(queries + row * stride + at), v128.load(keys + other * stride + at)));
        }
        const score: f32 = sum(products) * scale;
        most = max<f32>(most, score);
        store<f32>(scores + other * FLOAT, score);
      }
      let whole: f32 = 0;
      for (let other = 0; other < rows; other += 1) {
        const weight: f32 = f32x4.extract_lane(exp(f32x4.splat(load<f32>(scores + other * FLOAT) - most)), 0);
        whole += weight;
        store<f32>(scores + other * FLOAT, weight);
      }
      const share: f32 = <f32>1 / whole;
      const to = out + row * columns * FLOAT + head * width;
      for (let at = 0; at < width; at += 16) {
        let sums = f32x4.splat(0);
        for (let other = 0; other < rows; other += 1) {
          sums = f32x4.add(sums, f32x4.mul(v128.load(values + other * stride + at), f32x4.splat(load<f32>(scores + other * FLOAT) * share)));
        }
        v128.store(to + at, sums);
      }
    }
  }
}
