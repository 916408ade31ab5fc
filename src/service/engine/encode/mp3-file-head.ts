import {
  crc16,
  mp3FrameLength,
  parseMp3Frame,
  emptyMp3Frame,
  writeMp3InfoTag,
} from '../../../audio/mp3.ts';
import type { FormatReader } from '../../../audio/reader.ts';
import { Walker } from '../../../audio/reader.ts';
import { MP3_KILOBITS_PER_SECOND, MP3_SAMPLE_RATE } from './wasm-encoder.ts';

/** Bytes of a frame's header, which say how long the frame is. */
const HEADER_BYTES = 4;

/** Samples that LAME puts before the sound. */
const ENCODER_DELAY = 576;

/**
 * Puts a frame before those of the encoder that a decoder plays as silence unless it knows what it
 * is: the Info tag, with the exact length, the encoder's delay and the padding after the speech.
 */
export class Mp3FileHead implements FileHead {
  readonly #reader = new FrameCounter();
  readonly #walker = new Walker(this.#reader);
  #checksum = 0;
  /** The tag's own frame, empty until the file is done. */
  #room: Uint8Array | undefined;
  /** What came before it was known how long that frame is. */
  #held: readonly Uint8Array[] = [];

  pass(bytes: Uint8Array): readonly Uint8Array[] {
    this.#walker.write(bytes);
    this.#checksum = crc16(bytes, this.#checksum);
    if (this.#room !== undefined) return [bytes];
    const { first } = this.#reader;
    this.#held = [...this.#held, bytes];
    if (first === undefined) return [];
    this.#room = emptyMp3Frame(first);
    return [this.#room, ...this.#held];
  }

  finish({ samples, sampleRate }: SpeechLength): Uint8Array | undefined {
    const frame = this.#room === undefined ? undefined : parseMp3Frame(this.#room, 0);
    if (this.#room === undefined || frame === undefined) return undefined;
    const { frames } = this.#reader;
    const sound = Math.round((samples * MP3_SAMPLE_RATE) / sampleRate);
    const padding = frames * frame.samples - ENCODER_DELAY - sound;
    return writeMp3InfoTag(this.#room, {
      frames,
      audioBytes: this.#walker.bytes,
      checksum: this.#checksum,
      kilobitsPerSecond: MP3_KILOBITS_PER_SECOND,
      added: { delay: ENCODER_DELAY, padding },
    });
  }
}

/** Counts whole frames of what an encoder made: nothing but frames, one after the other. */
class FrameCounter implements FormatReader {
  want = HEADER_BYTES;
  skip = 0;
  frames = 0;
  first: Uint8Array | undefined;

  step(bytes: Uint8Array, at: number): void {
    const header = bytes.slice(at, at + HEADER_BYTES);
    const length = mp3FrameLength(header[1] ?? 0, header[2] ?? 0);
    if (header[0] !== 0xff || length === 0) throw new Error('The encoder gave no mp3 frame.');
    this.first ??= header;
    this.frames += 1;
    this.skip = length;
  }
}

/**
 * The beginning of a file that tells its length, while that is known only at its end: for files,
 * whose beginning can be written over. A stream has to do without.
 */
export interface FileHead {
  /** What is to be written for the next bytes of the encoder. */
  pass(bytes: Uint8Array): readonly Uint8Array[];
  /** What is to be written over the beginning of the file; nothing where the format needs none. */
  finish(length: SpeechLength): Uint8Array | undefined;
}

/** How long speech is. */
export interface SpeechLength {
  readonly samples: number;
  /** Of the speech, whatever the rate of the file. */
  readonly sampleRate: number;
}
