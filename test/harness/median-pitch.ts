/** Samples of mono sound. */
export interface Sound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

const FRAME_SECONDS = 0.035;
const HOP_SECONDS = 0.02;
const LOWEST_HZ = 55;
const HIGHEST_HZ = 500;
const LEAST_RATE = 16_000;
/** How alike a period and the next have to be. */
const VOICED = 0.7;

/**
 * The median fundamental frequency of speech in hertz, by normalized cross-correlation of each period
 * with the next: written for the tests alone, so that the program's own measuring has a witness.
 * Throws when hardly anything is voiced.
 */
export function medianPitch(sound: Sound): number {
  const pitches = pitchesOf(sound).sort((one, two) => one - two);
  if (pitches.length < 20) throw new Error(`Only ${pitches.length} frames are voiced.`);
  return pitches[Math.floor(pitches.length / 2)] ?? 0;
}

function pitchesOf(sound: Sound): number[] {
  const { samples, sampleRate } = withLowerRate(sound);
  const longest = Math.ceil(sampleRate / LOWEST_HZ);
  const length = Math.round(sampleRate * FRAME_SECONDS);
  const hop = Math.round(sampleRate * HOP_SECONDS);
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const pitches: number[] = [];
  for (let start = 0; start + length + longest < samples.length; start += hop) {
    const energy = Math.sqrt(product(samples, start, start, length) / length);
    if (energy < loudest * 0.03) continue;
    const period = periodAt(samples, { start, length, sampleRate });
    if (period !== undefined) pitches.push(sampleRate / period);
  }
  return pitches;
}

/** Averages neighbours: the work grows with the square of the rate. */
function withLowerRate({ samples, sampleRate }: Sound): Sound {
  const step = Math.floor(sampleRate / LEAST_RATE);
  if (step < 2) return { samples, sampleRate };
  const averages = new Float32Array(Math.floor(samples.length / step));
  for (let at = 0; at < averages.length; at += 1) {
    let sum = 0;
    for (let index = at * step; index < (at + 1) * step; index += 1) sum += samples[index] ?? 0;
    averages[at] = sum / step;
  }
  return { samples: averages, sampleRate: sampleRate / step };
}

interface Frame {
  readonly start: number;
  readonly length: number;
  readonly sampleRate: number;
}

/** The shortest lag that is nearly as good as the best: a multiple of a period is as good as itself. */
function periodAt(samples: Float32Array, { start, length, sampleRate }: Frame): number | undefined {
  const first = Math.floor(sampleRate / HIGHEST_HZ);
  const last = Math.ceil(sampleRate / LOWEST_HZ);
  const own = product(samples, start, start, length);
  let other = product(samples, start + first - 2, start + first - 2, length);
  const likeness = Array.from({ length: last + 2 }, (_, lag) => {
    if (lag < first - 1) return 0;
    // The energy of the period one sample later.
    other += (samples[start + lag + length - 1] ?? 0) ** 2 - (samples[start + lag - 1] ?? 0) ** 2;
    return product(samples, start, start + lag, length) / Math.sqrt(own * other + 1e-12);
  });
  const best = Math.max(...likeness.slice(first, last + 1));
  if (best < VOICED) return undefined;
  for (let lag = first; lag <= last; lag += 1) {
    const [before = 0, here = 0, after = 0] = likeness.slice(lag - 1, lag + 2);
    if (here < best * 0.92 || here < before || here < after) continue;
    return lag + (before - after) / (2 * (before - 2 * here + after) || 1);
  }
  return undefined;
}

function product(samples: Float32Array, one: number, other: number, length: number): number {
  let sum = 0;
  for (let index = 0; index < length; index += 1) {
    sum += (samples[one + index] ?? 0) * (samples[other + index] ?? 0);
  }
  return sum;
}
