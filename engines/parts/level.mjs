const FULL_SCALE = 32_768;

/** Louder samples are compressed to stay below full scale. */
const KNEE = 0.8;
const HEADROOM = 0.18;

/**
 * Multiplies samples by `gain`, and compresses loud ones to stay below full scale.
 * @param {Float32Array | Int16Array} samples full scale is 32,768
 * @param {number} gain
 */
export function amplify(samples, gain) {
  const amplified = new Int16Array(samples.length);
  samples.forEach((one, index) => {
    amplified[index] = Math.round(compressed((one / FULL_SCALE) * gain) * (FULL_SCALE - 1));
  });
  return amplified;
}

/** @param {number} value */
function compressed(value) {
  const size = Math.abs(value);
  if (size <= KNEE) return value;
  return Math.sign(value) * (KNEE + HEADROOM * Math.tanh((size - KNEE) / HEADROOM));
}

/** Level of all voices. */
export const COMMON_LUFS = -20;

/** Blocks of 400 ms, a new one every 100 ms (ITU-R BS.1770-4). */
const BLOCK = { seconds: 0.4, everySeconds: 0.1 };
const ABSOLUTE_GATE = -70;
const RELATIVE_GATE = -10;

/**
 * Measures the loudness of mono speech (ITU-R BS.1770-4).
 * @param {Float32Array} samples from -1 to 1
 * @param {number} sampleRate
 * @returns {number} in LUFS; -Infinity without sound
 */
export function loudness(samples, sampleRate) {
  const weighted = kWeighted(samples, sampleRate);
  const size = Math.max(1, Math.min(weighted.length, Math.round(BLOCK.seconds * sampleRate)));
  const every = Math.round(BLOCK.everySeconds * sampleRate);
  const blocks = [];
  for (let at = 0; at + size <= weighted.length; at += every) {
    blocks.push(meanSquare(weighted.subarray(at, at + size)));
  }
  const audible = blocks.filter((power) => lufs(power) > ABSOLUTE_GATE);
  const gate = lufs(mean(audible)) + RELATIVE_GATE;
  return lufs(mean(audible.filter((power) => lufs(power) > gate)));
}

/** @param {number} power */
function lufs(power) {
  return -0.691 + 10 * Math.log10(power);
}

/** @param {Float32Array} samples */
function meanSquare(samples) {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum / samples.length;
}

/** @param {readonly number[]} values */
function mean(values) {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The shelf for the head, then the high pass of the standard, at any sample rate.
 * @param {Float32Array} samples
 * @param {number} sampleRate
 */
function kWeighted(samples, sampleRate) {
  const shelf = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const gain = 10 ** (3.999843853973347 / 20);
  const side = gain ** 0.4996667741545416;
  const q = 0.7071752369554196;
  const high = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const highQ = 0.5003270373238773;
  const shelved = filtered(samples, {
    b: [
      gain + (side * shelf) / q + shelf * shelf,
      2 * (shelf * shelf - gain),
      gain - (side * shelf) / q + shelf * shelf,
    ],
    a: poles(shelf, q),
  });
  const [first] = poles(high, highQ);
  return filtered(shelved, { b: [first, -2 * first, first], a: poles(high, highQ) });
}

/**
 * @param {number} k
 * @param {number} q
 * @returns {Coefficients}
 */
function poles(k, q) {
  return [1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k];
}

/**
 * @typedef {[number, number, number]} Coefficients
 * @param {Float32Array} samples
 * @param {{ b: Coefficients, a: Coefficients }} filter
 */
function filtered(samples, { b, a }) {
  const [b0, b1, b2] = [b[0] / a[0], b[1] / a[0], b[2] / a[0]];
  const [a1, a2] = [a[1] / a[0], a[2] / a[0]];
  let z1 = 0;
  let z2 = 0;
  return samples.map((input) => {
    const output = b0 * input + z1;
    z1 = b1 * input - a1 * output + z2;
    z2 = b2 * input - a2 * output;
    return output;
  });
}
