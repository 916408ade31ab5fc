import type { Sonic } from '@echogarden/sonic-wasm';
import type { Sound } from './sound.ts';

/** Frames that are read at once. */
const ROOM = 8_192;
const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Makes sound faster (above 1) or slower without changing its pitch. What comes out has exactly as many
 * frames as it should, by the tempo and rounded.
 */
export async function* changeTempo(
  sounds: AsyncIterable<Sound>,
  tempo: number,
): AsyncGenerator<Sound> {
  const { default: load } = await import('@echogarden/sonic-wasm');
  const sonic = await load();
  let stream: TempoStream | undefined;
  let owed = 0;
  for await (const sound of sounds) {
    stream ??= new TempoStream(sonic, sound, tempo);
    owed += sound.samples.length / sound.channels / tempo;
    for (const faster of stream.push(sound)) {
      owed -= faster.samples.length / faster.channels;
      yield faster;
    }
  }
  for (const faster of stream?.finish(Math.round(owed)) ?? []) yield faster;
}

/** The WebAssembly's stream, with memory of its own. It is not closed: its process ends with the task. */
class TempoStream {
  readonly #sonic: Sonic;
  readonly #form: Omit<Sound, 'samples'>;
  readonly #stream: number;
  readonly #room: number;

  constructor(sonic: Sonic, { channels, sampleRate }: Sound, tempo: number) {
    this.#sonic = sonic;
    this.#form = { channels, sampleRate };
    this.#stream = sonic._sonicCreateStream(sampleRate, channels);
    this.#room = sonic._malloc(ROOM * channels * SAMPLE_BYTES);
    if (this.#stream === 0 || this.#room === 0) throw new Error('there is no memory for the tempo');
    sonic._sonicSetSpeed(this.#stream, tempo);
  }

  *push({ samples }: Sound): Generator<Sound> {
    const { channels } = this.#form;
    for (let at = 0; at < samples.length; at += ROOM * channels) {
      const piece = samples.subarray(at, at + ROOM * channels);
      this.#sonic.HEAPF32.set(piece, this.#room / SAMPLE_BYTES);
      const frames = piece.length / channels;
      if (this.#sonic._sonicWriteFloatToStream(this.#stream, this.#room, frames) === 0) {
        throw new Error('there is no memory for the tempo');
      }
      yield* this.#read();
    }
  }

  /** @param frames how many are to come yet: what is missing is silent, and what is more is left out */
  *finish(frames: number): Generator<Sound> {
    const { channels } = this.#form;
    this.#sonic._sonicFlushStream(this.#stream);
    let missing = frames * channels;
    for (const sound of this.#read()) {
      const samples = sound.samples.subarray(0, missing);
      missing -= samples.length;
      if (samples.length > 0) yield { ...sound, samples };
    }
    if (missing > 0) yield { ...this.#form, samples: new Float32Array(missing) };
  }

  *#read(): Generator<Sound> {
    const { channels } = this.#form;
    for (;;) {
      const frames = this.#sonic._sonicReadFloatFromStream(this.#stream, this.#room, ROOM);
      if (frames === 0) return;
      const start = this.#room / SAMPLE_BYTES;
      const samples = this.#sonic.HEAPF32.slice(start, start + frames * channels);
      yield { ...this.#form, samples: new Float32Array(samples) };
    }
  }
}
