import { amplify, createResampler, gainOf, mixToMono } from '../resample.ts';
import { createFileHead } from '../encode/file-head.ts';
import { CODEC_LEVELS } from '../encode/peak-limiter.ts';
import { openMp3 } from '../encode/wasm-encoder.ts';
import type { Mp3Frame } from '../mp3.ts';
import { MARK_BYTES, mp3TagHeadBytes, mp3TagLength, parseMp3Frame } from '../mp3.ts';
import type { FormatReader } from '../reader.ts';
import { SKIP_TO_END, Walker } from '../reader.ts';
import { decodeAll } from '../sound.ts';
import { createMp3Decoder } from '../wasm-decoders.ts';

/**
 * Gives all parts of a joined mp3 the sample rate of the first part, because a decoder does not play frames of several
 * rates. Parts of that rate remain unchanged; a part of another rate is decoded and encoded again. Buffers such a part.
 */
export class UniformMp3 {
  #sampleRate: number | undefined;
  #isMono = false;
  #reader = new FirstFrame();
  #walker = new Walker(this.#reader);
  #held: Uint8Array[] = [];

  /** Adds a chunk of the current part, and returns the bytes to join now. */
  write(chunk: Uint8Array): readonly Uint8Array[] {
    if (this.#reader.frame === undefined) this.#walker.write(chunk);
    const { frame } = this.#reader;
    if (this.#sampleRate === undefined && frame !== undefined) {
      this.#sampleRate = frame.sampleRate;
      this.#isMono = frame.channels === 1;
    }
    // An mp3 of two channels cannot be encoded.
    const isUnchanged = !this.#isMono || frame?.sampleRate === this.#sampleRate;
    if (frame !== undefined && isUnchanged) {
      const bytes = [...this.#held, chunk];
      this.#held = [];
      return bytes;
    }
    // The caller reuses the memory of the chunk.
    this.#held.push(new Uint8Array(chunk));
    return [];
  }

  /** Ends the current part, and returns the rest of the bytes to join. */
  async endPart(): Promise<readonly Uint8Array[]> {
    const held = this.#held;
    const { frame } = this.#reader;
    this.#held = [];
    this.#reader = new FirstFrame();
    this.#walker = new Walker(this.#reader);
    if (frame === undefined || this.#sampleRate === undefined || held.length === 0) return held;
    return encodeAgain(held, frame.sampleRate, this.#sampleRate);
  }
}

async function encodeAgain(
  part: readonly Uint8Array[],
  from: number,
  to: number,
): Promise<readonly Uint8Array[]> {
  const head = createFileHead('mp3');
  const encoder = await openMp3(to);
  const resampler = await createResampler(from, to);
  const gain = gainOf(CODEC_LEVELS.mp3.lossDb);
  const bytes: Uint8Array[] = [];
  let samples = 0;
  const encode = (sound: Float32Array): void => {
    samples += sound.length;
    bytes.push(...head.pass(encoder.encode(amplify(sound, gain))));
  };
  try {
    for await (const { channels } of decodeAll(part, createMp3Decoder)) {
      const sound = mixToMono(channels);
      if (sound.length > 0) encode(resampler.push(sound));
    }
    encode(resampler.finish());
    bytes.push(...head.pass(encoder.finish()));
  } finally {
    resampler.close();
    encoder.close();
  }
  const start = head.finish({ samples, sampleRate: to });
  const whole = Buffer.concat(bytes);
  if (start !== undefined) whole.set(start);
  return [whole];
}

class FirstFrame implements FormatReader {
  want = MARK_BYTES;
  skip = 0;
  frame: Mp3Frame | undefined;

  step(bytes: Uint8Array, at: number): void {
    this.frame = parseMp3Frame(bytes, at);
    const needed = mp3TagHeadBytes(bytes, at);
    if (this.frame === undefined && this.want < needed) {
      this.want = needed;
      return;
    }
    const tag = this.frame === undefined ? mp3TagLength(bytes, at) : 0;
    // Bytes that are not mp3 are refused when they are joined.
    this.skip = tag === 0 ? SKIP_TO_END : tag;
    this.want = MARK_BYTES;
  }
}
