/** A stretch of sound in which nobody speaks. */
export interface Pause {
  readonly startMs: number;
  readonly endMs: number;
}

const BUCKET_SECONDS = 0.01;
/** What is below this, 50 dB under full scale, is taken for silence. */
const SILENCE_LEVEL = 10 ** (-50 / 20);

/** The highest sample of every hundredth of a second: what pauses and a waveform are found in. */
export class LevelTrack {
  readonly #bucketLength: number;
  readonly #sampleRate: number;
  readonly #levels: number[] = [];
  #samples = 0;
  #level = 0;
  #inBucket = 0;
  #clipped = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#bucketLength = Math.max(1, Math.round(sampleRate * BUCKET_SECONDS));
  }

  /** The next samples of each channel, all of one length. */
  write(channels: readonly Float32Array[]): void {
    const length = channels[0]?.length ?? 0;
    for (let index = 0; index < length; index += 1) {
      for (const samples of channels) {
        const size = Math.abs(samples[index] ?? 0);
        if (size > this.#level) this.#level = size;
        if (size >= 1) this.#clipped += 1;
      }
      this.#inBucket += 1;
      if (this.#inBucket === this.#bucketLength) this.#endBucket();
    }
    this.#samples += length;
  }

  finish(): void {
    if (this.#inBucket > 0) this.#endBucket();
  }

  get durationMs(): number {
    return (this.#samples / this.#sampleRate) * 1000;
  }

  /** The highest sample of all, from 0 to 1. */
  get peak(): number {
    return this.#levels.reduce((highest, level) => Math.max(highest, level), 0);
  }

  /** How many samples are at full scale, where sound is cut off. */
  get clipped(): number {
    return this.#clipped;
  }

  /** Pauses of at least this length, at the beginning and the end too. */
  pauses(leastMs: number): Pause[] {
    const bucketMs = (this.#bucketLength / this.#sampleRate) * 1000;
    const pauses: Pause[] = [];
    let begun: number | undefined;
    for (let index = 0; index <= this.#levels.length; index += 1) {
      const isSilent = index < this.#levels.length && (this.#levels[index] ?? 0) < SILENCE_LEVEL;
      if (isSilent) begun ??= index;
      else if (begun !== undefined) {
        const endMs = Math.min(index * bucketMs, this.durationMs);
        if (endMs - begun * bucketMs >= leastMs) pauses.push({ startMs: begun * bucketMs, endMs });
        begun = undefined;
      }
    }
    return pauses;
  }

  /** The highest level of each of so many equal stretches; fewer where the sound is too short. */
  waveform(stretches: number): number[] {
    const count = Math.min(stretches, this.#levels.length);
    return Array.from({ length: count }, (_, index) => {
      const from = Math.floor((index * this.#levels.length) / count);
      const to = Math.floor(((index + 1) * this.#levels.length) / count);
      return this.#levels.slice(from, to).reduce((highest, level) => Math.max(highest, level), 0);
    });
  }

  #endBucket(): void {
    this.#levels.push(this.#level);
    this.#level = 0;
    this.#inBucket = 0;
  }
}
