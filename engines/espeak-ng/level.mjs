const FULL_SCALE = 32_768;

/** Louder samples are compressed to stay below full scale. */
const KNEE = 0.8;
const HEADROOM = 0.18;

/** Multiplies samples by `gain`, and compresses loud ones to stay below full scale. */
export function amplify(samples, gain) {
  return samples.map((one) => Math.round(compressed((one / FULL_SCALE) * gain) * (FULL_SCALE - 1)));
}

function compressed(value) {
  const size = Math.abs(value);
  if (size <= KNEE) return value;
  return Math.sign(value) * (KNEE + HEADROOM * Math.tanh((size - KNEE) / HEADROOM));
}
