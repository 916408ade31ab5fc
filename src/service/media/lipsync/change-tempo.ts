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
  let waiting = new Float32Array(0);
  let owed = 0;
  for await (const sound of sounds) {
    const { channels, sampleRate } = sound;
    stream ??= new TempoStream(sonic, sound, tempo);
    owed += sound.samples.length / channels / tempo;
    waiting = joined([waiting, ...stream.push(sound)]);
    // It may be ahead, and be told of the end.
    const samples = waiting.slice(0, Math.floor(owed) * channels);
    waiting = waiting.slice(samples.length);
    owed -= samples.length / channels;
    if (samples.length > 0) yield { samples, channels, sampleRate };
  }
  if (stream === undefined) return;
  const { channels, sampleRate } = stream.form;
  const samples = new Float32Array(Math.round(owed) * channels);
  samples.set(joined([waiting, ...stream.finish()]).subarray(0, samples.length));
  if (samples.length > 0) yield { samples, channels, sampleRate };
}

/** The WebAssembly's stream, with memory of its own. It is not closed: its process ends with the task. */
class TempoStream {
  readonly #sonic: Sonic;
  readonly form: Omit<Sound, 'samples'>;
  readonly #stream: number;
  readonly #room: number;

  constructor(sonic: Sonic, { channels, sampleRate }: Sound, tempo: number) {
    this.#sonic = sonic;
    this.form = { channels, sampleRate };
    this.#stream = sonic._sonicCreateStream(sampleRate, channels);
    this.#room = sonic._malloc(ROOM * channels * SAMPLE_BYTES);
    if (this.#stream === 0 || this.#room === 0) throw new Error('there is no memory for the tempo');
    sonic._sonicSetSpeed(this.#stream, tempo);
  }

  *push({ samples }: Sound): Generator<Float32Array> {
    const { channels } = this.form;
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

  /** What it still has. */
  *finish(): Generator<Float32Array> {
    this.#sonic._sonicFlushStream(this.#stream);
    yield* this.#read();
  }

  *#read(): Generator<Float32Array> {
    const { channels } = this.form;
    for (;;) {
      const frames = this.#sonic._sonicReadFloatFromStream(this.#stream, this.#room, ROOM);
      if (frames === 0) return;
      const start = this.#room / SAMPLE_BYTES;
      yield this.#sonic.HEAPF32.slice(start, start + frames * channels);
    }
  }
}

function joined(parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
