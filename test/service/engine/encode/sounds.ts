/** Noise that is the same each time, up to the given level. */
export function seededSamples(length: number, level: number): Float32Array {
  let state = 12_345;
  return Float32Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return level * (state / 2 ** 30 - 1);
  });
}
