// From the output of the voice's network to samples: 24 kHz, windows of 1200 samples (periodic Hann), 300 samples apart. Two
// windows share a Fourier transform, one as the real part, the other as the imaginary part.

import { cosine, exp, FLOAT, sine, turn } from './vectors';

const WINDOW: i32 = 1200;
const HOP: i32 = 300;
/** Frequencies of a window, and the same rounded up to whole vectors. */
const BINS: i32 = 601;
const PADDED: i32 = 604;
/** Floats of a frame: five rows of BINS, rounded up. */
const FRAME: i32 = 3008;
const NOISES: i32 = 4096;
/** Hertz from one frequency of a window to the next. */
const BIN_HERTZ: f32 = 20;
const LOWEST_PITCH: f32 = 40;
/** A brighter voice has the same level at this frequency. The brightness ends at TILT_LOWEST and at TILT_HIGHEST. */
const TILT_CENTER: f64 = 1000;
const TILT_LOWEST: f64 = 100;
const TILT_HIGHEST: f64 = 8000;

// Addresses in the scratch memory, in floats. A transform has its real parts, then its imaginary parts.
const HANN: i32 = 0;
const COSINES: i32 = HANN + WINDOW;
const SINES: i32 = COSINES + WINDOW;
const OCTAVES: i32 = SINES + WINDOW;
const NOISE: i32 = OCTAVES + PADDED;
const FIRST: i32 = NOISE + NOISES;
const SECOND: i32 = FIRST + 2 * WINDOW;
const SOURCE: i32 = SECOND + 2 * WINDOW;
const RESULT: i32 = SOURCE + 2 * PADDED;
const MOVED: i32 = RESULT + 4 * PADDED;

/** Bytes of scratch memory that {@link prepare} fills and {@link synthesize} uses. */
export const SCRATCH: i32 = (MOVED + 4 * PADDED) * FLOAT;

let scratch: usize = 0;
let state: u32 = 1;

/** Fills the tables at `at`. */
export function prepare(at: usize): void {
  scratch = at;
  for (let index = 0; index < WINDOW; index += 1) {
    const angle = (2 * Math.PI * <f64>index) / <f64>WINDOW;
    put(HANN + index, <f32>(0.5 - 0.5 * Math.cos(angle)));
    put(COSINES + index, <f32>Math.cos(angle));
    put(SINES + index, <f32>-Math.sin(angle));
  }
  for (let bin = 0; bin < BINS; bin += 1) {
    const hertz = Math.min(Math.max(<f64>bin * BIN_HERTZ, TILT_LOWEST), TILT_HIGHEST);
    put(OCTAVES + bin, <f32>Math.log2(hertz / TILT_CENTER));
  }
  // Box and Muller: two values of a normal distribution from two of an even one. In pairs that add up to 0.
  state = 0x9e3779b9;
  for (let index = 0; index < NOISES; index += 2) {
    const size = Math.sqrt(-2 * Math.log((<f64>random() + 1) / 4294967296));
    const value = size * Math.cos(2 * Math.PI * (<f64>random() / 4294967296));
    put(NOISE + index, <f32>value);
    put(NOISE + index + 1, <f32>-value);
  }
}

/**
 * Adds the windows of `frames` frames to `out`, which has (frames - 1) * 300 + 1200 zeros, as has `source`, the pulses of
 * the voice. A frame has five rows of 601 values: the logarithm of the pulses' envelope, their phase, the logarithms of the
 * envelopes of noise and of a residual, and the residual's phase. `pitch` has the pitch in hertz for which each frame was
 * made; the pulses have `factor` times that pitch. `stretch` moves the envelopes up (above 1) or down the frequencies.
 * `tilt` is added to their logarithms for each octave. The same `seed` gives the same noise.
 */
export function synthesize(frames: usize, count: i32, pitch: usize, factor: f32, source: usize, out: usize, stretch: f32, tilt: f32, seed: u32): void {
  state = seed | 1;
  for (let frame = 0; frame < count; frame += 2) {
    const isPair = frame + 1 < count;
    const from = source + frame * HOP * FLOAT;
    for (let at = 0; at < WINDOW * FLOAT; at += 16) {
      const hann = v128.load(address(HANN) + at);
      v128.store(address(FIRST) + at, f32x4.mul(hann, v128.load(from + at)));
      const second = isPair ? f32x4.mul(hann, v128.load(from + HOP * FLOAT + at)) : f32x4.splat(0);
      v128.store(address(FIRST + WINDOW) + at, second);
    }
    transform(address(FIRST), address(FIRST + WINDOW));
    const windows = isPair ? 2 : 1;
    for (let second = 0; second < windows; second += 1) {
      const at = frames + (frame + second) * FRAME * FLOAT;
      const isMoved = factor != 1 || stretch != 1 || tilt != 0;
      const hertz = isMoved ? load<f32>(pitch + (frame + second) * FLOAT) : 0;
      split(second == 1);
      moveEnvelopes(at, hertz, factor, stretch);
      if (tilt != 0) tiltEnvelopes(tilt);
      shape(at, RESULT + second * 2 * PADDED);
    }
    join(isPair);
    // The inverse transform is the transform with real and imaginary parts exchanged.
    transform(address(FIRST + WINDOW), address(FIRST));
    addWindow(address(FIRST), out + frame * HOP * FLOAT);
    if (isPair) addWindow(address(FIRST + WINDOW), out + (frame + 1) * HOP * FLOAT);
  }
}

/**
 * Writes the envelopes of a frame and the phase of its pulses at MOVED, with another length of the vocal tract. The model has
 * learned what the pulses are multiplied with only near the harmonics of the pitch, so that other pulses take it from there.
 */
function moveEnvelopes(frame: usize, hertz: f32, factor: f32, stretch: f32): void {
  const harmonic: f32 = hertz >= LOWEST_PITCH ? hertz / BIN_HERTZ : 0;
  const last = <f32>(BINS - 1);
  for (let bin = 0; bin < BINS; bin += 1) {
    const place = min<f32>(<f32>bin / stretch, last);
    put(MOVED + PADDED + bin, between(frame + 2 * BINS * FLOAT, place));
    put(MOVED + 2 * PADDED + bin, between(frame + 3 * BINS * FLOAT, place));
    if (harmonic == 0) {
      put(MOVED + bin, between(frame, place));
      put(MOVED + 3 * PADDED + bin, load<f32>(frame + (BINS + bin) * FLOAT));
      continue;
    }
    const number = max<f32>(1, min<f32>(place / harmonic, Mathf.floor(last / harmonic)));
    const low = Mathf.floor(number);
    const high = min<f32>(low + 1, Mathf.floor(last / harmonic));
    const below = between(frame, low * harmonic);
    put(MOVED + bin, below + (number - low) * (between(frame, high * harmonic) - below));
    // The bins around a pulse's harmonic have one phase.
    const own = max<f32>(1, Mathf.round(<f32>bin / (harmonic * factor))) * factor / stretch;
    const nearest = <i32>Mathf.round(max<f32>(1, Mathf.round(own)) * harmonic);
    put(MOVED + 3 * PADDED + bin, load<f32>(frame + (BINS + min(nearest, BINS - 1)) * FLOAT));
  }
}

function tiltEnvelopes(tilt: f32): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    const change = tilt * get(OCTAVES + bin);
    for (let row = 0; row < 3; row += 1) {
      const at = MOVED + row * PADDED + bin;
      put(at, get(at) + change);
    }
  }
}

/** The value of a row between two bins. */
@inline
function between(row: usize, place: f32): f32 {
  const low = <i32>place;
  const value = load<f32>(row + low * FLOAT);
  return value + (place - <f32>low) * (load<f32>(row + min(low + 1, BINS - 1) * FLOAT) - value);
}

/** Writes the spectrum of one frame at `result`: its real parts, then its imaginary parts. */
function shape(frame: usize, result: i32): void {
  const most = f32x4.splat(7);
  const half = f32x4.splat(Mathf.PI);
  const one = f32x4.splat(1);
  const two = f32x4.splat(2);
  for (let at = 0; at < PADDED * FLOAT; at += 16) {
    const pulses = exp(f32x4.min(v128.load(address(MOVED) + at), most));
    const noise = exp(f32x4.min(v128.load(address(MOVED + PADDED) + at), most));
    const residual = exp(f32x4.min(v128.load(address(MOVED + 2 * PADDED) + at), most));
    const theta = v128.load(address(MOVED + 3 * PADDED) + at);
    const tanh = f32x4.sub(one, f32x4.div(two, f32x4.add(exp(f32x4.mul(theta, two)), one)));
    turn(f32x4.mul(tanh, half));
    const re = v128.load(address(SOURCE) + at);
    const im = v128.load(address(SOURCE + PADDED) + at);
    let real = f32x4.mul(pulses, f32x4.sub(f32x4.mul(cosine, re), f32x4.mul(sine, im)));
    let imaginary = f32x4.mul(pulses, f32x4.add(f32x4.mul(cosine, im), f32x4.mul(sine, re)));
    real = f32x4.add(real, f32x4.mul(noise, f32x4(normal(), normal(), normal(), normal())));
    imaginary = f32x4.add(imaginary, f32x4.mul(noise, f32x4(normal(), normal(), normal(), normal())));
    turn(v128.load(frame + 4 * BINS * FLOAT + at));
    v128.store(address(result) + at, f32x4.add(real, f32x4.mul(residual, cosine)));
    v128.store(address(result + PADDED) + at, f32x4.add(imaginary, f32x4.mul(residual, sine)));
  }
  // The lowest and the highest frequency are real.
  put(result + PADDED, 0);
  put(result + PADDED + BINS - 1, 0);
}

/** Takes the spectrum of one of the two windows out of their common transform, divided by HOP. */
function split(isSecond: boolean): void {
  const scale: f32 = 0.5 / <f32>HOP;
  for (let bin = 0; bin < BINS; bin += 1) {
    const other = bin == 0 ? 0 : WINDOW - bin;
    const re = get(FIRST + bin);
    const im = get(FIRST + WINDOW + bin);
    const otherRe = get(FIRST + other);
    const otherIm = get(FIRST + WINDOW + other);
    put(SOURCE + bin, (isSecond ? im + otherIm : re + otherRe) * scale);
    put(SOURCE + PADDED + bin, (isSecond ? otherRe - re : im - otherIm) * scale);
  }
}

/** Joins the two spectra at RESULT into one of which each window is the real or the imaginary part. */
function join(isPair: boolean): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    const re = get(RESULT + bin);
    const im = get(RESULT + PADDED + bin);
    const secondRe: f32 = isPair ? get(RESULT + 2 * PADDED + bin) : 0;
    const secondIm: f32 = isPair ? get(RESULT + 3 * PADDED + bin) : 0;
    const other = bin == 0 ? 0 : WINDOW - bin;
    put(FIRST + other, re + secondIm);
    put(FIRST + WINDOW + other, secondRe - im);
    put(FIRST + bin, re - secondIm);
    put(FIRST + WINDOW + bin, im + secondRe);
  }
}

function addWindow(window: usize, out: usize): void {
  const scale = f32x4.splat(<f32>1 / <f32>WINDOW);
  for (let at = 0; at < WINDOW * FLOAT; at += 16) {
    const hann = f32x4.mul(v128.load(address(HANN) + at), scale);
    v128.store(out + at, f32x4.add(v128.load(out + at), f32x4.mul(hann, v128.load(window + at))));
  }
}

/** Transforms WINDOW complex numbers in place; Stockham's algorithm. */
function transform(re: usize, im: usize): void {
  const fromSecond = address(SECOND);
  const fromSecondIm = address(SECOND + WINDOW);
  pass(re, im, fromSecond, fromSecondIm, WINDOW, 4);
  pass(fromSecond, fromSecondIm, re, im, WINDOW / 4, 4);
  pass(re, im, fromSecond, fromSecondIm, WINDOW / 16, 3);
  pass(fromSecond, fromSecondIm, re, im, WINDOW / 48, 5);
  pass(re, im, fromSecond, fromSecondIm, WINDOW / 240, 5);
  memory.copy(re, fromSecond, WINDOW * FLOAT);
  memory.copy(im, fromSecondIm, WINDOW * FLOAT);
}

function pass(re: usize, im: usize, toRe: usize, toIm: usize, length: i32, radix: i32): void {
  const parts = length / radix;
  const stride = WINDOW / length;
  for (let part = 0; part < parts; part += 1) {
    for (let harmonic = 0; harmonic < radix; harmonic += 1) {
      const to = stride * (radix * part + harmonic) * FLOAT;
      for (let lane = 0; lane < stride; lane += 4) {
        let sumRe = f32x4.splat(0);
        let sumIm = f32x4.splat(0);
        for (let term = 0; term < radix; term += 1) {
          const angle = (harmonic * (term * parts + part) * stride) % WINDOW;
          const c = v128.load32_splat(address(COSINES + angle));
          const s = v128.load32_splat(address(SINES + angle));
          const at = (lane + stride * (part + parts * term)) * FLOAT;
          const valueRe = v128.load(re + at);
          const valueIm = v128.load(im + at);
          sumRe = f32x4.add(sumRe, f32x4.sub(f32x4.mul(valueRe, c), f32x4.mul(valueIm, s)));
          sumIm = f32x4.add(sumIm, f32x4.add(f32x4.mul(valueRe, s), f32x4.mul(valueIm, c)));
        }
        if (stride >= 4) {
          v128.store(toRe + to + lane * FLOAT, sumRe);
          v128.store(toIm + to + lane * FLOAT, sumIm);
        } else {
          store<f32>(toRe + to, f32x4.extract_lane(sumRe, 0));
          store<f32>(toIm + to, f32x4.extract_lane(sumIm, 0));
        }
      }
    }
  }
}

@inline
function normal(): f32 {
  return get(NOISE + <i32>(random() >>> 20));
}

/** Marsaglia's xorshift of 32 bits. */
@inline
function random(): u32 {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state;
}

@inline
function address(float: i32): usize {
  return scratch + float * FLOAT;
}

@inline
function get(float: i32): f32 {
  return load<f32>(address(float));
}

@inline
function put(float: i32, value: f32): void {
  store<f32>(address(float), value);
}
