/** A tone; `phase` in radians. */
export function sine(tone: {
  readonly hertz: number;
  readonly level: number;
  readonly seconds: number;
  readonly rate: number;
  readonly phase?: number;
}): Float32Array {
  const { hertz, level, phase = 0, rate, seconds } = tone;
  return Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, at) => level * Math.sin((2 * Math.PI * hertz * at) / rate + phase),
  );
}

/** Noise that is the same each time, up to the given level. */
export function seededSamples(length: number, level: number): Float32Array {
  let state = 12_345;
  return Float32Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return level * (state / 2 ** 30 - 1);
  });
}
