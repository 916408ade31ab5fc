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
/** The sum of the squares of the overlapping windows. */
const WINDOW_SUM: f32 = 1.5;
const NOISES: i32 = 4096;
/** Hertz from one frequency of a window to the next. */
const BIN_HERTZ: f32 = 20;
const LOWEST_PITCH: f32 = 40;
const SAMPLE_RATE: i32 = 24000;
/** A brighter voice has the same level at this frequency. The brightness ends at TILT_LOWEST and at TILT_HIGHEST. */
const TILT_CENTER: f64 = 1000;
const TILT_LOWEST: f64 = 100;
const TILT_HIGHEST: f64 = 8000;

// Addresses in the scratch memory, in floats. A transform has its real parts, then its imaginary parts.
const HANN: i32 = 0;
const COSINES: i32 = HANN + WINDOW;
const SINES: i32 = COSINES + WINDOW;
/** Cosines and sines of the angles of the first pass, times one, two and three. */
const TURNS: i32 = SINES + WINDOW;
const OCTAVES: i32 = TURNS + 6 * (WINDOW / 4);
const NOISE: i32 = OCTAVES + PADDED;
const FIRST: i32 = NOISE + NOISES;
const SECOND: i32 = FIRST + 2 * WINDOW;
const SOURCE: i32 = SECOND + 2 * WINDOW;
const RESULT: i32 = SOURCE + 2 * PADDED;
const MOVED: i32 = RESULT + 4 * PADDED;

/** Phases of four samples, and their numbers of harmonics. */
const PULSES: i32 = MOVED + 4 * PADDED;

/** Bytes of scratch memory that {@link prepare} fills and {@link synthesize} uses. */
export const SCRATCH: i32 = (PULSES + 8) * FLOAT;

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
  for (let index = 0; index < WINDOW / 4; index += 1) {
    for (let times = 1; times <= 3; times += 1) {
      const turns = TURNS + (times - 1) * (WINDOW / 2) + index;
      put(turns, get(COSINES + times * index));
      put(turns + WINDOW / 4, get(SINES + times * index));
    }
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
 * Writes pulses at the pitch of each of `count` frames to `out`, HOP samples a frame: the sum of the cosines of all harmonics
 * below `highest` hertz. Leaves out what is below LOWEST_PITCH. `factor` multiplies the pitch, in hertz, of the frames, which
 * is that in their middles.
 */
export function pulses(pitch: usize, count: i32, factor: f32, highest: f32, out: usize): void {
  // From -pi to pi, so that it is exact where the pulses are.
  let phase: f64 = 0;
  for (let frame = 0; frame < count; frame += 1) {
    for (let at = 0; at < HOP; at += 4) {
      for (let lane = 0; lane < 4; lane += 1) {
        const place = (<f32>(at + lane) + 0.5) / <f32>HOP - 0.5;
        const before = place < 0 ? max(frame - 1, 0) : frame;
        const share: f32 = place < 0 ? place + 1 : place;
        const low = voiced(pitch, before);
        const hertz: f32 = low + share * (voiced(pitch, min(before + 1, count - 1)) - low);
        const isSounding = hertz >= LOWEST_PITCH;
        store<f32>(address(PULSES + lane), <f32>phase);
        store<f32>(address(PULSES + 4 + lane), isSounding ? Mathf.floor(highest / (hertz * factor)) : -1);
        if (isSounding) phase += <f64>(hertz * factor) * (2 * Math.PI / <f64>SAMPLE_RATE);
        if (phase > Math.PI) phase -= 2 * Math.PI;
      }
      const phases = v128.load(address(PULSES));
      const harmonics = v128.load(address(PULSES + 4));
      const half = f32x4.splat(0.5);
      turn(f32x4.mul(phases, half));
      const sineOfHalf = sine;
      turn(f32x4.mul(phases, f32x4.add(harmonics, half)));
      const sums = f32x4.sub(f32x4.div(f32x4.mul(sine, half), sineOfHalf), half);
      const isPeak = f32x4.lt(f32x4.abs(sineOfHalf), f32x4.splat(1e-6));
      const isSilent = f32x4.lt(harmonics, f32x4.splat(0));
      const values = v128.bitselect(harmonics, sums, isPeak);
      v128.store(out + (frame * HOP + at) * FLOAT, v128.andnot(values, isSilent));
    }
  }
}

@inline
function voiced(pitch: usize, frame: i32): f32 {
  const hertz = load<f32>(pitch + frame * FLOAT);
  return hertz < LOWEST_PITCH ? 0 : hertz;
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
  const scale = f32x4.splat(<f32>1 / (<f32>WINDOW * WINDOW_SUM));
  for (let at = 0; at < WINDOW * FLOAT; at += 16) {
    const hann = f32x4.mul(v128.load(address(HANN) + at), scale);
    v128.store(out + at, f32x4.add(v128.load(out + at), f32x4.mul(hann, v128.load(window + at))));
  }
}

/** Transforms WINDOW = 4 * 4 * 5 * 5 * 3 complex numbers in place; Stockham's algorithm. */
function transform(re: usize, im: usize): void {
  const otherRe = address(SECOND);
  const otherIm = address(SECOND + WINDOW);
  firstPass(re, im, otherRe, otherIm);
  passOf4(otherRe, otherIm, re, im, 4);
  passOf5(re, im, otherRe, otherIm, 16);
  passOf5(otherRe, otherIm, re, im, 80);
  lastPass(re, im);
}

/** The pass of 4 over numbers of which each is a column of its own, so that the results have to be interleaved. */
function firstPass(re: usize, im: usize, toRe: usize, toIm: usize): void {
  const step = (WINDOW / 4) * FLOAT;
  for (let at = 0; at < step; at += 16) {
    const evenRe = f32x4.add(v128.load(re + at), v128.load(re + at + 2 * step));
    const evenIm = f32x4.add(v128.load(im + at), v128.load(im + at + 2 * step));
    const oddRe = f32x4.sub(v128.load(re + at), v128.load(re + at + 2 * step));
    const oddIm = f32x4.sub(v128.load(im + at), v128.load(im + at + 2 * step));
    const sumRe = f32x4.add(v128.load(re + at + step), v128.load(re + at + 3 * step));
    const sumIm = f32x4.add(v128.load(im + at + step), v128.load(im + at + 3 * step));
    const restRe = f32x4.sub(v128.load(re + at + step), v128.load(re + at + 3 * step));
    const restIm = f32x4.sub(v128.load(im + at + step), v128.load(im + at + 3 * step));
    const re1 = f32x4.add(oddRe, restIm);
    const im1 = f32x4.sub(oddIm, restRe);
    const re2 = f32x4.sub(evenRe, sumRe);
    const im2 = f32x4.sub(evenIm, sumIm);
    const re3 = f32x4.sub(oddRe, restIm);
    const im3 = f32x4.add(oddIm, restRe);
    const turns = address(TURNS) + at;
    const c1 = v128.load(turns);
    const s1 = v128.load(turns + step);
    const c2 = v128.load(turns + 2 * step);
    const s2 = v128.load(turns + 3 * step);
    const c3 = v128.load(turns + 4 * step);
    const s3 = v128.load(turns + 5 * step);
    interleave(toRe + 4 * at, f32x4.add(evenRe, sumRe), turnedRe(re1, im1, c1, s1), turnedRe(re2, im2, c2, s2), turnedRe(re3, im3, c3, s3));
    interleave(toIm + 4 * at, f32x4.add(evenIm, sumIm), turnedIm(re1, im1, c1, s1), turnedIm(re2, im2, c2, s2), turnedIm(re3, im3, c3, s3));
  }
}

/** Stores the first lanes of all four vectors, then their second lanes, and so on. */
@inline
function interleave(to: usize, a: v128, b: v128, c: v128, d: v128): void {
  const lowAB = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const highAB = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const lowCD = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const highCD = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(lowAB, lowCD, 0, 2));
  v128.store(to, v128.shuffle<i64>(lowAB, lowCD, 1, 3), 16);
  v128.store(to, v128.shuffle<i64>(highAB, highCD, 0, 2), 32);
  v128.store(to, v128.shuffle<i64>(highAB, highCD, 1, 3), 48);
}

/** A pass of 4 over `stride` columns, a multiple of 4. */
function passOf4(re: usize, im: usize, toRe: usize, toIm: usize, stride: i32): void {
  const size = stride * FLOAT;
  const step = (WINDOW / 4) * FLOAT;
  for (let first = 0; first < step; first += size) {
    const angle = first;
    const c1 = v128.load32_splat(address(COSINES) + angle);
    const s1 = v128.load32_splat(address(SINES) + angle);
    const c2 = v128.load32_splat(address(COSINES) + 2 * angle);
    const s2 = v128.load32_splat(address(SINES) + 2 * angle);
    const c3 = v128.load32_splat(address(COSINES) + 3 * angle);
    const s3 = v128.load32_splat(address(SINES) + 3 * angle);
    for (let at = first; at < first + size; at += 16) {
      const evenRe = f32x4.add(v128.load(re + at), v128.load(re + at + 2 * step));
      const evenIm = f32x4.add(v128.load(im + at), v128.load(im + at + 2 * step));
      const oddRe = f32x4.sub(v128.load(re + at), v128.load(re + at + 2 * step));
      const oddIm = f32x4.sub(v128.load(im + at), v128.load(im + at + 2 * step));
      const sumRe = f32x4.add(v128.load(re + at + step), v128.load(re + at + 3 * step));
      const sumIm = f32x4.add(v128.load(im + at + step), v128.load(im + at + 3 * step));
      const restRe = f32x4.sub(v128.load(re + at + step), v128.load(re + at + 3 * step));
      const restIm = f32x4.sub(v128.load(im + at + step), v128.load(im + at + 3 * step));
      const to = 3 * first + at;
      v128.store(toRe + to, f32x4.add(evenRe, sumRe));
      v128.store(toIm + to, f32x4.add(evenIm, sumIm));
      putTurned(toRe + to + size, toIm + to + size, f32x4.add(oddRe, restIm), f32x4.sub(oddIm, restRe), c1, s1);
      putTurned(toRe + to + 2 * size, toIm + to + 2 * size, f32x4.sub(evenRe, sumRe), f32x4.sub(evenIm, sumIm), c2, s2);
      putTurned(toRe + to + 3 * size, toIm + to + 3 * size, f32x4.sub(oddRe, restIm), f32x4.add(oddIm, restRe), c3, s3);
    }
  }
}

/** A pass of 5 over `stride` columns, a multiple of 4. */
function passOf5(re: usize, im: usize, toRe: usize, toIm: usize, stride: i32): void {
  const size = stride * FLOAT;
  const step = (WINDOW / 5) * FLOAT;
  // Cosines and sines of a fifth and of two fifths of a turn.
  const near = f32x4.splat(0.30901699437494745);
  const far = f32x4.splat(-0.8090169943749475);
  const high = f32x4.splat(0.9510565162951535);
  const low = f32x4.splat(0.5877852522924731);
  for (let first = 0; first < step; first += size) {
    for (let at = first; at < first + size; at += 16) {
      const re0 = v128.load(re + at);
      const im0 = v128.load(im + at);
      const outerRe = f32x4.add(v128.load(re + at + step), v128.load(re + at + 4 * step));
      const outerIm = f32x4.add(v128.load(im + at + step), v128.load(im + at + 4 * step));
      const innerRe = f32x4.add(v128.load(re + at + 2 * step), v128.load(re + at + 3 * step));
      const innerIm = f32x4.add(v128.load(im + at + 2 * step), v128.load(im + at + 3 * step));
      const outerRestRe = f32x4.sub(v128.load(re + at + step), v128.load(re + at + 4 * step));
      const outerRestIm = f32x4.sub(v128.load(im + at + step), v128.load(im + at + 4 * step));
      const innerRestRe = f32x4.sub(v128.load(re + at + 2 * step), v128.load(re + at + 3 * step));
      const innerRestIm = f32x4.sub(v128.load(im + at + 2 * step), v128.load(im + at + 3 * step));
      const sum1Re = f32x4.add(re0, f32x4.add(f32x4.mul(near, outerRe), f32x4.mul(far, innerRe)));
      const sum1Im = f32x4.add(im0, f32x4.add(f32x4.mul(near, outerIm), f32x4.mul(far, innerIm)));
      const sum2Re = f32x4.add(re0, f32x4.add(f32x4.mul(far, outerRe), f32x4.mul(near, innerRe)));
      const sum2Im = f32x4.add(im0, f32x4.add(f32x4.mul(far, outerIm), f32x4.mul(near, innerIm)));
      const rest1Re = f32x4.add(f32x4.mul(high, outerRestRe), f32x4.mul(low, innerRestRe));
      const rest1Im = f32x4.add(f32x4.mul(high, outerRestIm), f32x4.mul(low, innerRestIm));
      const rest2Re = f32x4.sub(f32x4.mul(low, outerRestRe), f32x4.mul(high, innerRestRe));
      const rest2Im = f32x4.sub(f32x4.mul(low, outerRestIm), f32x4.mul(high, innerRestIm));
      const to = 4 * first + at;
      v128.store(toRe + to, f32x4.add(re0, f32x4.add(outerRe, innerRe)));
      v128.store(toIm + to, f32x4.add(im0, f32x4.add(outerIm, innerIm)));
      const cosines = address(COSINES);
      const sines = address(SINES);
      putTurned(toRe + to + size, toIm + to + size, f32x4.add(sum1Re, rest1Im), f32x4.sub(sum1Im, rest1Re), v128.load32_splat(cosines + first), v128.load32_splat(sines + first));
      putTurned(toRe + to + 2 * size, toIm + to + 2 * size, f32x4.add(sum2Re, rest2Im), f32x4.sub(sum2Im, rest2Re), v128.load32_splat(cosines + 2 * first), v128.load32_splat(sines + 2 * first));
      putTurned(toRe + to + 3 * size, toIm + to + 3 * size, f32x4.sub(sum2Re, rest2Im), f32x4.add(sum2Im, rest2Re), v128.load32_splat(cosines + 3 * first), v128.load32_splat(sines + 3 * first));
      putTurned(toRe + to + 4 * size, toIm + to + 4 * size, f32x4.sub(sum1Re, rest1Im), f32x4.add(sum1Im, rest1Re), v128.load32_splat(cosines + 4 * first), v128.load32_splat(sines + 4 * first));
    }
  }
}

/** The pass of 3, which no angles follow: in place. */
function lastPass(re: usize, im: usize): void {
  const step = (WINDOW / 3) * FLOAT;
  const half = f32x4.splat(0.5);
  const sineOfThird = f32x4.splat(0.8660254037844386);
  for (let at = 0; at < step; at += 16) {
    const re0 = v128.load(re + at);
    const im0 = v128.load(im + at);
    const sumRe = f32x4.add(v128.load(re + at + step), v128.load(re + at + 2 * step));
    const sumIm = f32x4.add(v128.load(im + at + step), v128.load(im + at + 2 * step));
    const restRe = f32x4.mul(sineOfThird, f32x4.sub(v128.load(re + at + step), v128.load(re + at + 2 * step)));
    const restIm = f32x4.mul(sineOfThird, f32x4.sub(v128.load(im + at + step), v128.load(im + at + 2 * step)));
    const middleRe = f32x4.sub(re0, f32x4.mul(half, sumRe));
    const middleIm = f32x4.sub(im0, f32x4.mul(half, sumIm));
    v128.store(re + at, f32x4.add(re0, sumRe));
    v128.store(im + at, f32x4.add(im0, sumIm));
    v128.store(re + at + step, f32x4.add(middleRe, restIm));
    v128.store(im + at + step, f32x4.sub(middleIm, restRe));
    v128.store(re + at + 2 * step, f32x4.sub(middleRe, restIm));
    v128.store(im + at + 2 * step, f32x4.add(middleIm, restRe));
  }
}

@inline
function putTurned(toRe: usize, toIm: usize, re: v128, im: v128, c: v128, s: v128): void {
  v128.store(toRe, turnedRe(re, im, c, s));
  v128.store(toIm, turnedIm(re, im, c, s));
}

@inline
function turnedRe(re: v128, im: v128, c: v128, s: v128): v128 {
  return f32x4.sub(f32x4.mul(re, c), f32x4.mul(im, s));
}

@inline
function turnedIm(re: v128, im: v128, c: v128, s: v128): v128 {
  return f32x4.add(f32x4.mul(re, s), f32x4.mul(im, c));
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
