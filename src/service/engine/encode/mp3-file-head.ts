import { crc16 } from '../../../audio/crc16.ts';
import { mp3FrameLength, parseMp3Frame } from '../../../audio/mp3-frames.ts';
import type { FormatReader } from '../../../audio/walker.ts';
import { Walker } from '../../../audio/walker.ts';
import { emptyMp3Frame, writeMp3InfoTag } from '../../../audio/write-mp3-info-tag.ts';
import type { FileHead, SpeechLength } from './file-head.ts';
import { MP3_KILOBITS_PER_SECOND, MP3_SAMPLE_RATE } from './mp3.ts';

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
