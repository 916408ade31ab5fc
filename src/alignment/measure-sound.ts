import {
  detectSound,
  filePieces,
  UnusableAudioError,
  type DecodedSound,
  type OpenFile,
} from '../audio/decode.ts';
import type { WordSpan } from './align-words.ts';
import { type BandEnergies, BandMeter, SAMPLE_RATES } from './features.ts';

/** A recording, in the form that is compared with a reference. */
export interface MeasuredRecording {
  readonly energies: BandEnergies;
  readonly durationMs: number;
}

// Other tasks of the event loop run after this many decoded bytes.
const BYTES_PER_TURN = 256 * 1024;

/**
 * Decodes and measures a recording. Needs 13 kB of memory for each second.
 * @throws UnusableAudioError for a file that is not audio, is incomplete or cannot be decoded; the abort reason
 */
export async function measureRecording(
  file: OpenFile,
  signal: AbortSignal,
): Promise<MeasuredRecording> {
  const sound = detectSound(file);
  const decoder = await sound.open();
  const measurement = new Measurement(sound.channels);
  let bytes = 0;
  try {
    const pieces = filePieces({ fd: file.fd, size: sound.end }, decoder.pieceBytes, sound.start);
    for (const piece of pieces) {
      measurement.add(await decoder.decode(piece));
      bytes += piece.length;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    measurement.add(await decoder.finish());
  } finally {
    decoder.close();
  }
  return measurement.result();
}

class Measurement {
  readonly #declaredChannels: number | undefined;
  #meter: BandMeter | undefined;
  #sampleRate = 0;
  #samples = 0;

  /** @param declaredChannels number of channels in the header; the decoder may return more */
  constructor(declaredChannels: number | undefined) {
    this.#declaredChannels = declaredChannels;
  }

  add({ channels, sampleRate }: DecodedSound): void {
    const decoded = channels.slice(0, this.#declaredChannels);
    const length = decoded[0]?.length ?? 0;
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
    this.#meter.push(mixed(decoded, length));
  }

  result(): MeasuredRecording {
    if (this.#meter === undefined) throw new UnusableAudioError('has no sound');
    const durationMs = (this.#samples * 1000) / this.#sampleRate;
    return { energies: this.#meter.finish(), durationMs };
  }
}

/** Mixes channels to mono. Replaces NaN and infinity, which floating-point files may contain, by 0. */
function mixed(channels: readonly Float32Array[], length: number): Float32Array {
  const mono = new Float32Array(length);
  for (let index = 0; index < length; index += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[index] ?? 0;
    mono[index] = Number.isFinite(sum) ? sum / channels.length : 0;
  }
  return mono;
}

/** A word of a text and its time in the reference speech. `start` and `end` are code points. */
export interface ReferenceWord extends WordSpan {
  readonly start: number;
  readonly end: number;
}

/** Speech whose word times are known. */
export interface MeasuredReference {
  readonly energies: BandEnergies;
  readonly words: readonly ReferenceWord[];
}

/** A chunk of speech from an engine. */
interface SpokenChunk {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words?: readonly ReferenceWord[];
}

/** Measures speech while an engine speaks. @throws errors of the engine */
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
