import type { Sonic } from '@echogarden/sonic-wasm';
import { concatSamples } from './resample.ts';

/** Decoded sound: interleaved samples from -1 to 1. */
export interface Sound {
  readonly samples: Float32Array;
  readonly channels: number;
  readonly sampleRate: number;
}

// Audio frames (one sample for each channel) in the buffer that is shared with the WebAssembly module.
const BUFFER_FRAMES = 8_192;
const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Changes the tempo of sound, but not the pitch. A `tempo` above 1 is faster: 2 halves the duration. */
export async function* changeTempo(
  sounds: AsyncIterable<Sound>,
  tempo: number,
): AsyncGenerator<Sound> {
  const sonic = await loadSonic();
  let stream: TempoStream | undefined;
  let waiting: Float32Array = new Float32Array(0);
  let owed = 0;
  try {
    for await (const sound of sounds) {
      const { channels, sampleRate } = sound;
      stream ??= new TempoStream(sonic, sound, tempo);
      owed += sound.samples.length / channels / tempo;
      waiting = concatSamples([waiting, ...stream.push(sound)]);
      // The converter may return more frames than the input so far accounts for.
      const samples = waiting.slice(0, Math.floor(owed) * channels);
      waiting = waiting.slice(samples.length);
      owed -= samples.length / channels;
      if (samples.length > 0) yield { samples, channels, sampleRate };
    }
    if (stream === undefined) return;
    const { channels, sampleRate } = stream;
    const samples = new Float32Array(Math.round(owed) * channels);
    samples.set(concatSamples([waiting, ...stream.finish()]).subarray(0, samples.length));
    if (samples.length > 0) yield { samples, channels, sampleRate };
  } finally {
    stream?.close();
  }
}

function loadSonic(): Promise<Sonic> {
  // All streams share the memory of one library.
  loading ??= import('@echogarden/sonic-wasm').then((loaded) => loaded.default());
  return loading;
}

let loading: Promise<Sonic> | undefined;

class TempoStream {
  readonly #sonic: Sonic;
  readonly channels: number;
  readonly sampleRate: number;
  readonly #stream: number;
  readonly #buffer: number;

  constructor(sonic: Sonic, { channels, sampleRate }: Sound, tempo: number) {
    this.#sonic = sonic;
    this.channels = channels;
    this.sampleRate = sampleRate;
    this.#stream = sonic._sonicCreateStream(sampleRate, channels);
    this.#buffer = sonic._malloc(BUFFER_FRAMES * channels * SAMPLE_BYTES);
    if (this.#stream === 0 || this.#buffer === 0)
      throw new Error('cannot allocate memory to change the tempo');
    sonic._sonicSetSpeed(this.#stream, tempo);
  }

  *push({ samples }: Sound): Generator<Float32Array> {
    const { channels } = this;
    for (let at = 0; at < samples.length; at += BUFFER_FRAMES * channels) {
      const piece = samples.subarray(at, at + BUFFER_FRAMES * channels);
      this.#sonic.HEAPF32.set(piece, this.#buffer / SAMPLE_BYTES);
      const frames = piece.length / channels;
      if (this.#sonic._sonicWriteFloatToStream(this.#stream, this.#buffer, frames) === 0) {
        throw new Error('cannot allocate memory to change the tempo');
      }
      yield* this.#read();
    }
  }

  *finish(): Generator<Float32Array> {
    this.#sonic._sonicFlushStream(this.#stream);
    yield* this.#read();
  }

  close(): void {
    this.#sonic._sonicDestroyStream(this.#stream);
    this.#sonic._free(this.#buffer);
  }

  *#read(): Generator<Float32Array> {
    const { channels } = this;
    for (;;) {
      const frames = this.#sonic._sonicReadFloatFromStream(
        this.#stream,
        this.#buffer,
        BUFFER_FRAMES,
      );
      if (frames === 0) return;
      const start = this.#buffer / SAMPLE_BYTES;
      yield this.#sonic.HEAPF32.slice(start, start + frames * channels);
    }
  }
}
