// The loudness of the voices as the model gives it.

const LEVELS = {};

const USUAL = -24;

/** Returns the loudness of a voice in LUFS. */
export function levelOf(id) {
  return LEVELS[id] ?? USUAL;
}
