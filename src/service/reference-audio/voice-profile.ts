/** What is measured of a voice: nothing by which anybody could be recognised. */
export interface VoiceProfile {
  /** Median of its fundamental frequency in hertz. */
  readonly medianHz: number;
  /** Semitones between the tenth and the ninetieth part of it: how far the melody goes. */
  readonly rangeSemitones: number;
  /**
   * Level in decibels of the resonances at `ENVELOPE_HZ`, over all voiced sound; their mean is 0, as how
   * loud it is does not count.
   */
  readonly envelope: readonly number[];
  /** How much of its sound has a pitch that is clear: a rough voice has little. */
  readonly clearShare: number;
}

/** How closely frequencies of an envelope lie: this many to a doubling. */
const STEPS_PER_OCTAVE = 24;
const LOWEST_HZ = 250;
const OCTAVES = 3.8;

/** Where an envelope is measured: from 250 to 3,480 Hz, the range that a telephone lets through too. */
export const ENVELOPE_HZ: readonly number[] = Array.from(
  { length: Math.round(STEPS_PER_OCTAVE * OCTAVES) + 1 },
  (_, index) => LOWEST_HZ * 2 ** (index / STEPS_PER_OCTAVE),
);

/** Further than this a voice that is played faster or slower is no longer understood well. */
const LARGEST_SHIFT = 5;

/** How alike two envelopes are, at best. */
export interface Likeness {
  /** What to multiply the frequencies of the other with, to be like the one. */
  readonly formants: number;
  /** Mean difference in decibels that is left then. */
  readonly difference: number;
}

/** How the resonances of `other` are best moved to be like those of `one`, and how like they are then. */
export function likeness(one: readonly number[], other: readonly number[]): Likeness {
  const shifts = Array.from({ length: 2 * LARGEST_SHIFT + 1 }, (_, index) => index - LARGEST_SHIFT);
  const found = shifts.map((shift) => ({
    formants: 2 ** (shift / STEPS_PER_OCTAVE),
    difference: difference(one, other, shift),
  }));
  return found.reduce((best, next) => (next.difference < best.difference ? next : best));
}

/** The root of the mean square of the differences where both are known, their means made equal. */
function difference(one: readonly number[], other: readonly number[], shift: number): number {
  const pairs = one.flatMap((level, index) => {
    const moved = other[index - shift];
    return moved === undefined ? [] : [level - moved];
  });
  const mean = pairs.reduce((sum, value) => sum + value, 0) / pairs.length;
  const squares = pairs.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / pairs.length);
}
