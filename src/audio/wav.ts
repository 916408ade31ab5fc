import type { Correction, Findings, Walker } from './reader.ts';
import { SKIP_TO_END, VerifyingReader, tagAt } from './reader.ts';

/**
 * Verifies a RIFF WAVE file: compares the lengths in its headers with the actual lengths. The header of a streamed file
 * has no valid lengths; only an incomplete last sample is then detected.
 */
export class WavReader extends VerifyingReader {
  #end: number | undefined;
  #format: ReturnType<typeof readWavFormat> | undefined;
  #dataStart: number | undefined;
  #dataBytes: number | undefined;
  #isRiff = false;
  #isStreamed = false;
  // 0 or 1; many writers omit the padding after the last chunk.
  #padding = 0;

  constructor() {
    super(RIFF_BYTES);
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    const id = tagAt(bytes, at);
    const size = view.getUint32(4, true);
    if (!this.begun) return this.#stepRiff(id, tagAt(bytes, at + 8), size);
    if (!/^[\x20-\x7e]{4}$/.test(id) || id === 'RIFF') {
      return this.stop(`has bytes that are not a WAV chunk at offset ${position}`);
    }
    if (id === 'fmt ' && this.#format === undefined) return this.#stepFormat(view, size);
    if (id === 'data' && this.#dataStart === undefined) return this.#stepData(size, position);
    return this.#skipChunk(size);
  }

  finish(walker: Walker): Findings {
    const seen = this.#dataStart === undefined ? 0 : Math.max(0, walker.bytes - this.#dataStart);
    const dataBytes = Math.min(this.#dataBytes ?? seen, seen);
    const format = this.#format;
    return {
      durationMs: format === undefined ? undefined : (dataBytes / format.bytesPerSecond) * 1000,
      sampleRate: format?.sampleRate,
      channels: format?.channels,
      endIsProven: this.#dataBytes !== undefined,
      corrections: this.#corrections(walker.bytes),
      problem: this.#problemAtEnd(walker, dataBytes),
    };
  }

  #corrections(bytes: number): readonly Correction[] {
    const start = this.#dataStart;
    const isCorrectable = this.#isStreamed && this.#isRiff && bytes <= LARGEST_WAV_LENGTH;
    if (!isCorrectable || start === undefined) return [];
    return [
      { position: 4, bytes: lengthField(bytes - CHUNK_HEAD_BYTES) },
      { position: start - 4, bytes: lengthField(bytes - start) },
    ];
  }

  #problemAtEnd(walker: Walker, dataBytes: number): string | undefined {
    if (!this.begun) return 'is not WAV';
    if (this.#dataStart === undefined) return 'is cut: it ends before the samples';
    if (this.#dataBytes !== undefined && dataBytes < this.#dataBytes) {
      return `is cut: it has ${dataBytes} of ${this.#dataBytes} bytes of samples`;
    }
    if (dataBytes === 0) return 'has no samples';
    if (dataBytes % (this.#format?.blockBytes ?? 1) !== 0) return 'is cut: it ends inside a sample';
    // Some headers also count their own eight bytes. A chunk that is really missing has at least eight bytes.
    const isShort = this.#end !== undefined && walker.bytes + CHUNK_HEAD_BYTES < this.#end;
    const isInside =
      this.#dataBytes !== undefined && (this.skip > this.#padding || walker.held.length > 0);
    return isShort || isInside ? 'is cut: it ends inside a chunk' : undefined;
  }

  #stepRiff(id: string, form: string, size: number): void {
    if ((id !== 'RIFF' && id !== 'RF64') || form !== 'WAVE') return this.stop('is not WAV');
    this.begun = true;
    this.#end = isUnknownWavLength(size) ? undefined : size + CHUNK_HEAD_BYTES;
    this.#isRiff = id === 'RIFF';
    return this.advance(RIFF_BYTES, CHUNK_HEAD_BYTES);
  }

  #stepFormat(view: DataView, size: number): void {
    if (size < FORMAT_BYTES) return this.stop('has a WAV format that is too short');
    if (this.want < CHUNK_HEAD_BYTES + FORMAT_BYTES) {
      this.want = CHUNK_HEAD_BYTES + FORMAT_BYTES;
      return undefined;
    }
    const format = readWavFormat(view);
    if (Object.values(format).includes(0)) return this.stop('has an invalid WAV format');
    this.#format = format;
    return this.#skipChunk(size);
  }

  #stepData(size: number, position: number): void {
    if (this.#format === undefined) return this.stop('has samples before their format');
    this.#dataStart = position + CHUNK_HEAD_BYTES;
    const isLast = this.#end === undefined || this.#end <= this.#dataStart;
    if (isUnknownWavLength(size) && (size !== 0 || isLast)) {
      // The header has no valid length, so the samples extend to the end of the file.
      this.#end = undefined;
      this.#isStreamed = true;
      this.skip = SKIP_TO_END;
      return undefined;
    }
    this.#dataBytes = size;
    return this.#skipChunk(size);
  }

  #skipChunk(size: number): void {
    this.#padding = size % 2;
    this.advance(CHUNK_HEAD_BYTES + size + this.#padding, CHUNK_HEAD_BYTES);
  }
}

function readWavFormat(view: DataView) {
  return {
    channels: view.getUint16(10, true),
    sampleRate: view.getUint32(12, true),
    bytesPerSecond: view.getUint32(16, true),
    blockBytes: view.getUint16(20, true),
  };
}

/** Length of the RIFF header in bytes. */
export const RIFF_BYTES = 12;
export const CHUNK_HEAD_BYTES = 8;
/** Minimum length of a `fmt ` chunk in bytes. */
export const FORMAT_BYTES = 16;
export const LARGEST_WAV_LENGTH = 0xffff_ffff;
const UNKNOWN_LENGTH_FROM = 0x7fff_0000;

/** Returns whether a WAV length field is a placeholder, as written by a program that did not know the length. */
export function isUnknownWavLength(length: number): boolean {
  return length === 0 || length >= UNKNOWN_LENGTH_FROM;
}

/** Returns a length as a field of a WAV header. */
export function lengthField(length: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}

/** The layout of raw samples, as the media type of a response declares it. */
export interface PcmLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitDepth: number;
}

/** Verifies raw samples: the last sample must be complete. Computes the duration if the layout is known. */
export class PcmReader extends VerifyingReader {
  override begun = true;
  readonly #layout: PcmLayout | undefined;

  constructor(layout?: PcmLayout) {
    super(1);
    this.#layout = layout;
  }

  step(): void {
    this.skip = SKIP_TO_END;
  }

  finish({ bytes }: Walker): Findings {
    const layout = this.#layout;
    const blockBytes = layout === undefined ? 2 : (layout.channels * layout.bitDepth) / 8;
    const seconds =
      layout === undefined ? undefined : Math.floor(bytes / blockBytes) / layout.sampleRate;
    return {
      durationMs: seconds === undefined ? undefined : seconds * 1000,
      sampleRate: layout?.sampleRate,
      channels: layout?.channels,
      endIsProven: false,
      problem: bytes % blockBytes === 0 ? undefined : 'is cut: it ends inside a sample',
    };
  }
}
