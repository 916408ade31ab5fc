/** The largest level that leaves this file: a little below full scale, as mp3 and ogg overshoot. */
export const CEILING = 0.98;

/** Below this level samples pass unchanged; from here up to the ceiling they are bent, never cut. */
const KNEE = 0.8;

/** The factor on samples that changes their level by `decibels`; 6 is about twice, -6 about half. */
export function gainOf(decibels: number): number {
  return 10 ** (decibels / 20);
}

/** Multiplies samples by `gain`; what would go above the knee is bent under `CEILING`. */
export function amplify(samples: Float32Array, gain: number): Float32Array<ArrayBuffer> {
  const louder = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) {
    louder[index] = limit((samples[index] ?? 0) * gain);
  }
  return louder;
}

function limit(sample: number): number {
  const level = Math.abs(sample);
  if (level <= KNEE) return sample;
  const room = CEILING - KNEE;
  return Math.sign(sample) * (KNEE + room * Math.tanh((level - KNEE) / room));
}
