import { PeakLimiter, TruePeakMeter } from '../../audio/encode/peak-limiter.ts';
import { LoudnessMeter } from '../../audio/measure.ts';
import { gainOf } from '../../audio/resample.ts';
import { SAMPLE_RATE } from './line-sound.ts';

/** Measured loudness and peak of a recording. */
export interface MeasuredLevel {
  /** Integrated loudness in LUFS (ITU-R BS.1770-4); undefined for silence. */
  readonly loudness: number | undefined;
  /** True peak in decibels relative to full scale; undefined for silence. */
  readonly truePeakDb: number | undefined;
}

/** Measures loudness and true peak of mono samples at 44.1 kHz. */
export class LevelMeter {
  readonly #loudness = new LoudnessMeter(1, SAMPLE_RATE);
  readonly #peak = new TruePeakMeter();

  write(samples: Float32Array): void {
    this.#loudness.write([samples]);
    this.#peak.write(samples);
  }

  finish(): MeasuredLevel {
    const peak = this.#peak.finish();
    return {
      loudness: this.#loudness.integrated,
      truePeakDb: peak === 0 ? undefined : 20 * Math.log10(peak),
    };
  }
}

// The loudness of a shorter sound cannot be measured.
const SILENCE = new Float32Array(Math.ceil(0.4 * SAMPLE_RATE));

/** The gain factor of each speaker, by speaker name. */
export type Gains = ReadonlyMap<string, number>;

/** Measures the loudness of each speaker over all lines of that speaker. */
export class SpeakerMeters {
  readonly #meters = new Map<string, LoudnessMeter>();

  write(speaker: string, samples: Float32Array): void {
    const meter = this.#meters.get(speaker) ?? new LoudnessMeter(1, SAMPLE_RATE);
    this.#meters.set(speaker, meter);
    meter.write([samples]);
  }

  /**
   * Returns the gain in dB that each speaker needs to reach the loudness `target` (in LUFS); 0 for a silent speaker.
   */
  missingDb(target: number): ReadonlyMap<string, number> {
    const missing = [...this.#meters].map(([speaker, meter]) => {
      if (meter.integrated === undefined) meter.write([SILENCE]);
      return [speaker, target - (meter.integrated ?? target)] as const;
    });
    return new Map(missing);
  }
}

/** Limits the true peaks of a mix to `ceiling`, an amplitude from 0 to 1. */
export async function* limitPeaks(
  mix: AsyncIterable<Float32Array>,
  ceiling: number,
): AsyncGenerator<Float32Array> {
  const limiter = new PeakLimiter(SAMPLE_RATE, ceiling);
  for await (const samples of mix) yield limiter.push(samples);
  yield limiter.finish();
}

// The loudness of a speaker may differ from the target by this much.
const TOLERANCE_LU = 0.2;
// After a smaller change nothing is measured again: the limiter takes back only a part of the change.
const SMALL_CHANGE_LU = 0.5;
const MAX_TURNS = 4;
// The limiter would be audible if it had to take back a larger gain.
const MAX_RAISE_DB = 6;

/**
 * Finds a gain for each speaker, so that all speakers are equally loud and the whole recording has the target loudness.
 * Stops below the target where the limiter would become audible. Measures the mix again after each change, because the
 * limiter affects some voices more than others.
 * @param meters loudness of each speaker's lines before any gain
 * @param target loudness in LUFS
 * @param measure mixes the lines with the given gains, limits the peaks, and measures the result
 */
export async function findGains(
  meters: SpeakerMeters,
  target: number,
  measure: (gains: Gains) => Promise<MixLevels>,
): Promise<Gains> {
  const plainDb = meters.missingDb(target);
  let gainsDb = plainDb;
  let speakerTarget = target;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const { loudness = target, speakers } = await measure(gainsOf(gainsDb));
    speakerTarget += target - loudness;
    const missing = speakers.missingDb(speakerTarget);
    const largest = Math.max(...[...missing.values()].map((lu) => Math.abs(lu)));
    if (largest <= TOLERANCE_LU) break;
    const raised = [...gainsDb].map(([speaker, gainDb]) => {
      const mostDb = (plainDb.get(speaker) ?? 0) + MAX_RAISE_DB;
      return [speaker, Math.min(mostDb, gainDb + (missing.get(speaker) ?? 0))] as const;
    });
    gainsDb = new Map(raised);
    if (largest <= SMALL_CHANGE_LU) break;
  }
  return gainsOf(gainsDb);
}

function gainsOf(gainsDb: ReadonlyMap<string, number>): Gains {
  return new Map([...gainsDb].map(([speaker, gainDb]) => [speaker, gainOf(gainDb)]));
}

// Times are in samples.
interface PlacedLine {
  readonly speaker: string;
  readonly start: number;
  readonly samples: number;
}

interface MixLevels {
  readonly speakers: SpeakerMeters;
  // In LUFS; undefined for silence.
  readonly loudness: number | undefined;
}

/** Measures the loudness of a mix, and of each speaker within the mix. */
export async function measureSpeakers(
  mix: AsyncIterable<Float32Array>,
  lines: readonly PlacedLine[],
): Promise<MixLevels> {
  const meters = new SpeakerMeters();
  const whole = new LoudnessMeter(1, SAMPLE_RATE);
  const sorted = lines.toSorted((one, other) => one.start - other.start);
  let heard: PlacedLine[] = [];
  let next = 0;
  let position = 0;
  for await (const samples of mix) {
    const end = position + samples.length;
    whole.write([samples]);
    for (let line = sorted[next]; line !== undefined && line.start < end; line = sorted[next]) {
      heard.push(line);
      next += 1;
    }
    for (const { speaker, start, ...line } of heard) {
      const from = Math.max(0, start - position);
      meters.write(speaker, samples.subarray(from, start + line.samples - position));
    }
    heard = heard.filter(({ start, ...line }) => start + line.samples > end);
    position = end;
  }
  return { speakers: meters, loudness: whole.integrated };
}
