import { amplify, concatSamples } from '../../audio/resample.ts';
import type { LineSounds } from './line-sound.ts';
import type { LineInterval } from './timeline.ts';

/** A line with its audio file, its position in the mix and its gain. */
export interface MixedLine extends Pick<LineInterval, 'samples' | 'start' | 'tempo'> {
  /** Path of the audio file of the line. */
  readonly audio: string;
  readonly gain: number;
  /** True if the sound begins or ends abruptly. It then gets short fades, to avoid clicks. */
  readonly isCutHard: boolean;
}

interface MixOptions {
  readonly sounds: LineSounds;
  // In samples.
  readonly total: number;
}

/**
 * Mixes the lines of a recording, and yields the samples of the mix. Keeps in memory only those samples to which later
 * lines may still be added.
 * @param lines in any order
 * @throws Failure of kind `state` for audio that cannot be read
 * @throws the signal's abort reason on abort
 */
export async function* mixLines(
  lines: readonly MixedLine[],
  { sounds, total }: MixOptions,
): AsyncGenerator<Float32Array> {
  const sorted = lines.toSorted((one, other) => one.start - other.start);
  const track = new Track();
  for (const [index, line] of sorted.entries()) {
    yield* track.take(line.start);
    const next = sorted[index + 1]?.start ?? total;
    let at = 0;
    for await (const piece of sounds.read(line.audio, line.tempo)) {
      const samples = amplify(piece.subarray(0, line.samples - at), line.gain);
      if (line.isCutHard) fadeEdges(samples, at, line.samples);
      track.add(samples, line.start + at);
      at += samples.length;
      yield* track.take(Math.min(line.start + at, next));
    }
  }
  yield* track.take(total);
}

// 2 ms at 44.1 kHz.
const FADE_SAMPLES = 88;

function fadeEdges(samples: Float32Array, from: number, total: number): void {
  for (let index = 0; index < samples.length; index += 1) {
    const distance = Math.min(from + index, total - 1 - from - index);
    if (distance < FADE_SAMPLES) samples[index] = ((samples[index] ?? 0) * distance) / FADE_SAMPLES;
  }
}

const SILENT = new Float32Array(65_536);

// Samples of the mix that are not yet complete: more lines may be added to them.
class Track {
  #position = 0;
  #waiting: Float32Array = new Float32Array(0);

  add(samples: Float32Array, start: number): void {
    const offset = start - this.#position;
    const missing = offset + samples.length - this.#waiting.length;
    if (missing > 0) this.#waiting = concatSamples([this.#waiting, new Float32Array(missing)]);
    for (let index = 0; index < samples.length; index += 1) {
      this.#waiting[offset + index] = (this.#waiting[offset + index] ?? 0) + (samples[index] ?? 0);
    }
  }

  *take(end: number): Generator<Float32Array> {
    // All later lines are added after `end`.
    const ready = this.#waiting.subarray(0, Math.max(0, end - this.#position));
    this.#waiting = this.#waiting.slice(ready.length);
    this.#position += ready.length;
    if (ready.length > 0) yield ready;
    while (this.#position < end) {
      const silence = SILENT.subarray(0, end - this.#position);
      this.#position += silence.length;
      yield silence;
    }
  }
}
