const FULL_SCALE = 32_768;

/** Up to here samples are only multiplied; from here they are bent, so that none is cut off. */
const KNEE = 0.8;
const ROOM = 0.18;

/** Multiplies samples; what would leave full scale is bent to stay just below it. */
export function levelled(samples, gain) {
  return samples.map((sample) => Math.round(bent((sample / FULL_SCALE) * gain) * (FULL_SCALE - 1)));
}

function bent(value) {
  const size = Math.abs(value);
  if (size <= KNEE) return value;
  return Math.sign(value) * (KNEE + ROOM * Math.tanh((size - KNEE) / ROOM));
}
