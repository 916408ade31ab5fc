// Functions of four floats at once.

/** Bytes of a float. */
export const FLOAT: i32 = 4;

@inline
export function sum(values: v128): f32 {
  return f32x4.extract_lane(values, 0) + f32x4.extract_lane(values, 1) + (f32x4.extract_lane(values, 2) + f32x4.extract_lane(values, 3));
}

/** e to the power of each lane: 2 to the whole part of x / ln 2, times the series of the rest. */
@inline
export function exp(x: v128): v128 {
  const limited = f32x4.min(f32x4.max(x, f32x4.splat(-87)), f32x4.splat(88));
  const whole = f32x4.nearest(f32x4.mul(limited, f32x4.splat(1.4426950408889634)));
  // ln 2 in two parts, so that no digit of the rest is lost.
  let r = f32x4.sub(limited, f32x4.mul(whole, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(whole, f32x4.splat(2.12194440e-4)));
  let p = f32x4.splat(1.0 / 720);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 120));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 24));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 6));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(0.5));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(whole), i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}

/** The error function, by a polynomial of x² up to |x| = 3, with an error of at most 2.3e-5. */
@inline
export function erf(x: v128): v128 {
  const limited = f32x4.pmax(f32x4.pmin(x, f32x4.splat(3)), f32x4.splat(-3));
  const square = f32x4.mul(limited, limited);
  let p = f32x4.splat(-4.469938970451222e-9);
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(2.3021528902862722e-7));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(-0.000005322654538011133));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(0.00007394709949135752));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(-0.0007009955071903295));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(0.004897189190759458));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(-0.02645343569392175));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(0.11256715189731357));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(-0.37605642031925784));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(1.1283761510476613));
  return f32x4.mul(p, limited);
}

/** Sine and cosine of the last call of {@link turn}. */
export let sine: v128 = f32x4.splat(0);
export let cosine: v128 = f32x4.splat(1);

/** Sets {@link sine} and {@link cosine} of each lane: of the rest of x after quarter turns, by their series. */
@inline
export function turn(x: v128): void {
  const quarters = f32x4.nearest(f32x4.mul(x, f32x4.splat(0.6366197723675814)));
  // A quarter of a turn in two parts, so that no digit of the rest is lost.
  let r = f32x4.sub(x, f32x4.mul(quarters, f32x4.splat(1.5703125)));
  r = f32x4.sub(r, f32x4.mul(quarters, f32x4.splat(4.838267948966e-4)));
  const square = f32x4.mul(r, r);
  let s = f32x4.splat(2.7525562e-6);
  s = f32x4.add(f32x4.mul(s, square), f32x4.splat(-1.9840874e-4));
  s = f32x4.add(f32x4.mul(s, square), f32x4.splat(8.3333310e-3));
  s = f32x4.add(f32x4.mul(s, square), f32x4.splat(-0.16666667));
  s = f32x4.add(f32x4.mul(f32x4.mul(s, square), r), r);
  let c = f32x4.splat(2.443315711809948e-5);
  c = f32x4.add(f32x4.mul(c, square), f32x4.splat(-1.388731625493765e-3));
  c = f32x4.add(f32x4.mul(c, square), f32x4.splat(4.166664568298827e-2));
  c = f32x4.add(f32x4.mul(c, square), f32x4.splat(-0.5));
  c = f32x4.add(f32x4.mul(c, square), f32x4.splat(1));
  const quadrant = i32x4.trunc_sat_f32x4_s(quarters);
  const isOdd = i32x4.eq(v128.and(quadrant, i32x4.splat(1)), i32x4.splat(1));
  const sineSign = i32x4.shl(v128.and(quadrant, i32x4.splat(2)), 30);
  const cosineSign = i32x4.shl(v128.and(i32x4.add(quadrant, i32x4.splat(1)), i32x4.splat(2)), 30);
  sine = v128.xor(v128.bitselect(c, s, isOdd), sineSign);
  cosine = v128.xor(v128.bitselect(s, c, isOdd), cosineSign);
}

/** Size of a step of the levels, and the level that stands for 0, from 0 to 255, of the last call of {@link setLevels}. */
export let step: f32 = 1;
export let zero: f32 = 0;

/** Chooses levels over the range of the floats from `at` to `end`, a multiple of eight, and 0. */
export function setLevels(at: usize, end: usize): void {
  let low = f32x4.splat(0);
  let high = f32x4.splat(0);
  for (; at < end; at += 32) {
    const first = v128.load(at);
    const second = v128.load(at, 16);
    low = f32x4.pmin(f32x4.pmin(low, first), second);
    high = f32x4.pmax(f32x4.pmax(high, first), second);
  }
  const least = min(min(f32x4.extract_lane(low, 0), f32x4.extract_lane(low, 1)), min(f32x4.extract_lane(low, 2), f32x4.extract_lane(low, 3)));
  const most = max(max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1)), max(f32x4.extract_lane(high, 2), f32x4.extract_lane(high, 3)));
  step = most == least ? 1 : (most - least) / 255;
  zero = nearest<f32>(-least / step);
}

/** The level of each lane less that of 0, between `bottom` and `top`; `scale` is one by the size of a step. */
@inline
export function level(value: v128, scale: v128, bottom: v128, top: v128): v128 {
  const rounded = f32x4.nearest(f32x4.mul(value, scale));
  return i32x4.trunc_sat_f32x4_s(f32x4.pmin(f32x4.pmax(rounded, bottom), top));
}

/** Stores the sums of the lanes of `first` and `second`, each times its scale and plus its start. */
@inline
export function putPair(to: usize, first: v128, second: v128, scale: v128, start: v128): void {
  const halves = i32x4.add(v128.shuffle<i32>(first, second, 0, 4, 1, 5), v128.shuffle<i32>(first, second, 2, 6, 3, 7));
  const sums = f32x4.convert_i32x4_s(i32x4.add(halves, v128.shuffle<i32>(halves, halves, 2, 3, 0, 1)));
  v128.store64_lane(to, f32x4.add(f32x4.mul(sums, scale), start), 0);
}
