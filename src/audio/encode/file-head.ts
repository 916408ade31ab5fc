import type { SpeechFormat } from '../../contract/speech.ts';
import { crc16, emptyMp3Frame, mp3FrameLength, parseMp3Frame, writeMp3InfoTag } from '../mp3.ts';
import type { FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';
import { wavHeader } from './pcm.ts';
import { MP3_KILOBITS_PER_SECOND } from './wasm-encoder.ts';

/**
 * Creates the header of an audio file. The header contains the length of the audio, which is known only at the end. A
 * provisional header is therefore replaced by the final one.
 */
export interface FileHead {
  /** Receives the next bytes from the encoder. Returns the bytes to append to the file. */
  pass(bytes: Uint8Array): readonly Uint8Array[];
  /**
   * Returns the final header, which the caller writes over the first bytes of the file. Returns undefined if the header
   * needs no change.
   */
  finish(length: SpeechLength): Uint8Array | undefined;
}

export interface SpeechLength {
  readonly samples: number;
  /** Sample rate of the speech, which can differ from the sample rate of the file. */
  readonly sampleRate: number;
}

/** Returns the object that creates the header of one file: the WAV header, or the Info tag of an MP3 file. */
export function createFileHead(format: SpeechFormat | 'opus'): FileHead {
  if (format === 'mp3') return new Mp3FileHead();
  return {
    pass: (bytes) => [bytes],
    finish: ({ samples, sampleRate }) =>
      format === 'wav' ? wavHeader(sampleRate, samples) : undefined,
  };
}

const HEADER_BYTES = 4;

const LAME_DELAY_SAMPLES = 576;

class Mp3FileHead implements FileHead {
  readonly #reader = new FrameCounter();
  readonly #walker = new Walker(this.#reader);
  #checksum = 0;
  #tagFrame: Uint8Array | undefined;
  #held: readonly Uint8Array[] = [];

  pass(bytes: Uint8Array): readonly Uint8Array[] {
    this.#walker.write(bytes);
    this.#checksum = crc16(bytes, this.#checksum);
    if (this.#tagFrame !== undefined) return [bytes];
    const { first } = this.#reader;
    this.#held = [...this.#held, bytes];
    if (first === undefined) return [];
    this.#tagFrame = emptyMp3Frame(first);
    return [this.#tagFrame, ...this.#held];
  }

  finish({ samples, sampleRate }: SpeechLength): Uint8Array | undefined {
    const frame = this.#tagFrame === undefined ? undefined : parseMp3Frame(this.#tagFrame, 0);
    if (this.#tagFrame === undefined || frame === undefined) return undefined;
    const { frames } = this.#reader;
    const sound = Math.round((samples * frame.sampleRate) / sampleRate);
    const padding = frames * frame.samples - LAME_DELAY_SAMPLES - sound;
    return writeMp3InfoTag(this.#tagFrame, {
      frames,
      audioBytes: this.#walker.bytes,
      checksum: this.#checksum,
      kilobitsPerSecond: MP3_KILOBITS_PER_SECOND,
      added: { delay: LAME_DELAY_SAMPLES, padding },
    });
  }
}

class FrameCounter implements FormatReader {
  want = HEADER_BYTES;
  skip = 0;
  frames = 0;
  first: Uint8Array | undefined;

  step(bytes: Uint8Array, at: number): void {
    const header = bytes.slice(at, at + HEADER_BYTES);
    const length = mp3FrameLength(header[1] ?? 0, header[2] ?? 0);
    if (header[0] !== 0xff || length === 0)
      throw new Error('The encoder wrote bytes that are not an mp3 frame.');
    this.first ??= header;
    this.frames += 1;
    this.skip = length;
  }
}
