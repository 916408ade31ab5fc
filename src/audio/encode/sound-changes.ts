import type { FileFormat } from '../../contract/values.ts';
import type { SoundChanges } from '../../durable/output.ts';
import { LoudnessMeter, SILENCE_LEVEL } from '../measure.ts';
import { amplify, gainOf } from '../resample.ts';
import { CODEC_LEVELS, MAX_TRUE_PEAK_DB, PeakLimiter } from './peak-limiter.ts';

/** Mono samples with their sample rate in Hz. Each call of `read` reads all samples from the beginning. */
export interface StoredSound {
  readonly sampleRate: number;
  read(): AsyncIterable<Float32Array>;
}

/** How to make the requested changes to one sound. */
export interface PlannedChanges {
  /** The samples to keep: from the sample `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
  /** Factor for all samples. Undefined if the loudness stays unchanged, also because it cannot be measured. */
  readonly gain: number | undefined;
}

// What `--trim` leaves of the silence at the start and at the end.
const KEPT_SILENCE_SECONDS = 0.05;
// The loudness of a shorter sound cannot be measured.
const MEASURABLE_SECONDS = 0.4;

/** How much quieter speech is after encoding, in LU: the median of five voices. */
export const CODEC_LOSS_LU: Readonly<Record<FileFormat, number>> = {
  wav: 0,
  flac: 0,
  mp3: 0.05,
  m4a: 0.05,
  m4b: 0.05,
  ogg: 0.15,
  opus: 0.35,
};

/** Measures a sound, and plans how to make the requested changes to it. */
export async function planChanges(
  sound: StoredSound,
  format: FileFormat,
  { loudness, trim }: SoundChanges,
): Promise<PlannedChanges> {
  const meter = new LoudnessMeter(1, sound.sampleRate);
  let [samples, first, last] = [0, Infinity, -1];
  for await (const piece of sound.read()) {
    meter.write([piece]);
    const [from, to] = loudSamples(piece);
    if (to >= 0) [first, last] = [Math.min(first, samples + from), samples + to];
    samples += piece.length;
  }
  const measured = loudnessOf(meter, sound.sampleRate);
  const kept = Math.floor(KEPT_SILENCE_SECONDS * sound.sampleRate);
  const isTrimmed = trim === true && last >= 0;
  const from = isTrimmed ? Math.max(0, first - kept) : 0;
  const to = isTrimmed ? Math.min(samples, last + 1 + kept) : samples;
  const plan = { from, to, gain: undefined };
  if (loudness === undefined || measured === undefined) return plan;
  const wanted = loudness + CODEC_LOSS_LU[format];
  const plainDb = wanted - measured;
  return { ...plan, gain: await findGain(sound, format, plan, { wanted, plainDb }) };
}

function loudSamples(piece: Float32Array): readonly [number, number] {
  return [piece.findIndex(isLoud), piece.findLastIndex(isLoud)];
}

function isLoud(sample: number): boolean {
  return Math.abs(sample) >= SILENCE_LEVEL;
}

function loudnessOf(meter: LoudnessMeter, sampleRate: number): number | undefined {
  if (meter.integrated === undefined) {
    meter.write([new Float32Array(Math.ceil(MEASURABLE_SECONDS * sampleRate))]);
  }
  return meter.integrated;
}

// The measured loudness may differ from the requested one by this much.
const TOLERANCE_LU = 0.05;
const MAX_TURNS = 6;
// The limiter would be audible if it had to take back a larger gain.
const MAX_RAISE_DB = 6;

// The limiter takes back a part of each raise, so the result is measured again.
async function findGain(
  sound: StoredSound,
  format: FileFormat,
  plan: PlannedChanges,
  { plainDb, wanted }: { readonly plainDb: number; readonly wanted: number },
): Promise<number> {
  let gainDb = plainDb;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const meter = new LoudnessMeter(1, sound.sampleRate);
    for await (const piece of changedSound(sound, format, { ...plan, gain: gainOf(gainDb) })) {
      meter.write([piece]);
    }
    const missing = wanted - (loudnessOf(meter, sound.sampleRate) ?? wanted);
    if (Math.abs(missing) <= TOLERANCE_LU) break;
    gainDb = Math.min(plainDb + MAX_RAISE_DB, gainDb + missing);
  }
  return gainOf(gainDb);
}

/** Yields the samples of a sound with the planned changes. If the loudness changes, limits the true peaks too. */
export async function* changedSound(
  sound: StoredSound,
  format: FileFormat,
  { from, gain, to }: PlannedChanges,
): AsyncGenerator<Float32Array> {
  let position = 0;
  const ceiling = gainOf(MAX_TRUE_PEAK_DB - CODEC_LEVELS[format].riseDb);
  const limiter = new PeakLimiter(sound.sampleRate, ceiling);
  for await (const piece of sound.read()) {
    const kept = piece.subarray(Math.max(0, from - position), Math.max(0, to - position));
    position += piece.length;
    yield gain === undefined ? kept : limiter.push(amplify(kept, gain));
  }
  if (gain !== undefined) yield limiter.finish();
}
