import type { DetectedSound } from '../audio/decode.ts';
import { detectSound } from '../audio/decode.ts';
import { mixToMono } from '../audio/resample.ts';
import type { DecodedSound, OpenFile } from '../audio/sound.ts';
import { UnusableAudioError } from '../audio/sound.ts';
import type { WordSpan } from './align-words.ts';
import type { BandEnergies } from './features.ts';
import { BandMeter, SAMPLE_RATES } from './features.ts';

/** A decoded recording and its measured band energies. */
export interface MeasuredRecording {
  readonly energies: BandEnergies;
  readonly durationMs: number;
}

/**
 * Decodes a recording and measures its energy in bands of the mel scale. Each second of audio needs 13 kB of memory.
 * @throws UnusableAudioError for a file that is not audio, is incomplete or cannot be decoded
 * @throws the signal's abort reason
 */
export async function measureRecording(
  file: OpenFile,
  signal: AbortSignal,
): Promise<MeasuredRecording> {
  const sound = await detectSound(file, signal);
  const measurement = new SoundMeasurement();
  for await (const piece of sound.decode(signal)) measurement.add(piece);
  const recording = measurement.result();
  requireAllSound(recording.durationMs / 1000, sound);
  return recording;
}

// FLAC is the only format that is not checked for completeness before it is decoded.
function requireAllSound(seconds: number, { format, seconds: whole }: DetectedSound): void {
  if (format !== 'flac' || whole === undefined || seconds > whole - MISSING_SECONDS) return;
  const [found, wanted] = [seconds, whole].map((one) => one.toFixed(1));
  throw new UnusableAudioError(`is cut: it has ${found} of ${wanted} seconds`);
}

const MISSING_SECONDS = 0.1;

class SoundMeasurement {
  #meter: BandMeter | undefined;
  #sampleRate = 0;
  #samples = 0;

  add({ channels, sampleRate }: DecodedSound): void {
    const length = channels[0]?.length ?? 0;
    if (length === 0 || sampleRate === 0) return;
    if (this.#meter === undefined) {
      const { highest, lowest } = SAMPLE_RATES;
      if (sampleRate < lowest || sampleRate > highest) {
        const allowed = `use ${lowest} to ${highest}`;
        throw new UnusableAudioError(`has ${sampleRate} samples a second; ${allowed}`);
      }
      this.#meter = new BandMeter(sampleRate);
      this.#sampleRate = sampleRate;
    } else if (sampleRate !== this.#sampleRate) {
      throw new UnusableAudioError('changes its sample rate');
    }
    this.#samples += length;
    this.#meter.push(mixToMono(channels));
  }

  result(): MeasuredRecording {
    if (this.#meter === undefined) throw new UnusableAudioError('has no sound');
    const durationMs = (this.#samples * 1000) / this.#sampleRate;
    return { energies: this.#meter.finish(), durationMs };
  }
}

/**
 * A word of the text and its time in the reference speech. The word begins at `start` and ends before `end` in the
 * text, counted in code points.
 */
export interface ReferenceWord extends WordSpan {
  readonly start: number;
  readonly end: number;
}

/** Speech made by an engine, with known word times, measured for comparison with a recording. */
export interface MeasuredReference {
  readonly energies: BandEnergies;
  readonly words: readonly ReferenceWord[];
}

interface SpokenChunk {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words?: readonly ReferenceWord[];
}

/**
 * Measures the band energies of speech that an engine generates, and collects the times of its words.
 * @throws any error that reading `chunks` throws
 */
export async function measureReference(
  chunks: AsyncIterable<SpokenChunk>,
): Promise<MeasuredReference> {
  let meter: BandMeter | undefined;
  const words: ReferenceWord[] = [];
  for await (const chunk of chunks) {
    meter ??= new BandMeter(chunk.sampleRate);
    meter.push(chunk.samples);
    words.push(...(chunk.words ?? []));
  }
  const energies = meter?.finish() ?? { logs: new Float32Array(0), frames: 0, bands: 0 };
  return { energies, words };
}
