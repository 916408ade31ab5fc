import type { Correction, Findings, JudgingReader, Walker } from './reader.ts';
import { TO_THE_END } from './reader.ts';

/**
 * Walks the chunks of a RIFF WAVE file. Its lengths are checked against the bytes that come, unless
 * they say that the writer did not know them, as a stream's do: then all that follows is samples, and
 * only a cut inside a sample is seen.
 */
export class WavReader implements JudgingReader {
  want = RIFF_BYTES;
  skip = 0;
  problem: string | undefined;
  begun = false;

  /** The end of the file as its header tells it, undefined when it does not. */
  #end: number | undefined;
  #sound: WavSound | undefined;
  #dataStart: number | undefined;
  /** Bytes of samples, undefined when the header does not tell. */
  #dataBytes: number | undefined;
  #isRiff = false;
  /** The writer did not know how many bytes of samples there would be. */
  #isUnknown = false;
  /** A byte after the last chunk that many writers leave out. */
  #padding = 0;

  step(bytes: Uint8Array, at: number, position: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    if (!this.begun) return this.#stepRiff(view);
    const id = tagAt(view, 0);
    const size = view.getUint32(4, true);
    if (!/^[\x20-\x7e]{4}$/.test(id) || id === 'RIFF') {
      return this.#stop(`has bytes that are no WAV chunk at offset ${position}`);
    }
    if (id === 'fmt ' && this.#sound === undefined) return this.#stepFormat(view, size);
    if (id === 'data' && this.#dataStart === undefined) return this.#stepData(size, position);
    return this.#pass(size);
  }

  finish(walker: Walker): Findings {
    const seen = this.#dataStart === undefined ? 0 : Math.max(0, walker.bytes - this.#dataStart);
    const dataBytes = Math.min(this.#dataBytes ?? seen, seen);
    const sound = this.#sound;
    return {
      durationMs: sound === undefined ? undefined : (dataBytes / sound.bytesPerSecond) * 1000,
      sampleRate: sound?.sampleRate,
      channels: sound?.channels,
      endIsProven: this.#dataBytes !== undefined,
      corrections: this.#corrections(walker.bytes),
      problem: this.problem ?? this.#problemAtEnd(walker, dataBytes),
    };
  }

  #corrections(bytes: number): readonly Correction[] {
    const start = this.#dataStart;
    if (!this.#isUnknown || !this.#isRiff || start === undefined) return [];
    return bytes > LARGEST_LENGTH
      ? []
      : [
          { position: 4, bytes: lengthField(bytes - HEADER_BYTES) },
          { position: start - 4, bytes: lengthField(bytes - start) },
        ];
  }

  #problemAtEnd(walker: Walker, dataBytes: number): string | undefined {
    if (walker.bytes === 0) return 'is empty';
    if (!this.begun) return 'is not WAV';
    if (this.#dataStart === undefined) return 'is cut: it ends before the samples';
    if (this.#dataBytes !== undefined && dataBytes < this.#dataBytes) {
      return `is cut: it has ${dataBytes} of ${this.#dataBytes} bytes of samples`;
    }
    if (dataBytes === 0) return 'has no samples';
    if (dataBytes % (this.#sound?.blockBytes ?? 1) !== 0) return 'is cut: it ends inside a sample';
    // A header may count itself, eight bytes too many; a chunk that is cut off whole has more.
    const isShort = this.#end !== undefined && walker.bytes + HEADER_BYTES < this.#end;
    const isInside =
      this.#dataBytes !== undefined && (this.skip > this.#padding || walker.held.length > 0);
    return isShort || isInside ? 'is cut: it ends inside a chunk' : undefined;
  }

  #stepRiff(view: DataView): void {
    const form = tagAt(view, 0);
    if ((form !== 'RIFF' && form !== 'RF64') || tagAt(view, 8) !== 'WAVE') {
      return this.#stop('is not WAV');
    }
    this.begun = true;
    const size = view.getUint32(4, true);
    this.#end = isUnknown(size) ? undefined : size + 8;
    this.#isRiff = form === 'RIFF';
    this.skip = RIFF_BYTES;
    this.want = HEADER_BYTES;
    return undefined;
  }

  #stepFormat(view: DataView, size: number): void {
    if (size < FORMAT_BYTES) return this.#stop('has a WAV format that is too short');
    if (this.want < HEADER_BYTES + FORMAT_BYTES) {
      this.want = HEADER_BYTES + FORMAT_BYTES;
      return undefined;
    }
    const sound = {
      channels: view.getUint16(10, true),
      sampleRate: view.getUint32(12, true),
      bytesPerSecond: view.getUint32(16, true),
      blockBytes: view.getUint16(20, true),
    };
    if (Object.values(sound).includes(0)) return this.#stop('has a WAV format that cannot be');
    this.#sound = sound;
    return this.#pass(size);
  }

  #stepData(size: number, position: number): void {
    if (this.#sound === undefined) return this.#stop('has samples before their format');
    this.#dataStart = position + HEADER_BYTES;
    const isLast = this.#end === undefined || this.#end <= this.#dataStart;
    if (isUnknown(size) && (size !== 0 || isLast)) {
      // A header that was never filled in: the samples go on to the end.
      this.#end = undefined;
      this.#isUnknown = true;
      this.skip = TO_THE_END;
      return undefined;
    }
    this.#dataBytes = size;
    return this.#pass(size);
  }

  /** Chunks of odd length are padded to an even one. */
  #pass(size: number): void {
    this.#padding = size % 2;
    this.skip = HEADER_BYTES + size + this.#padding;
    this.want = HEADER_BYTES;
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}

interface WavSound {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSecond: number;
  readonly blockBytes: number;
}

const RIFF_BYTES = 12;
const HEADER_BYTES = 8;
const FORMAT_BYTES = 16;
/** What the fields can count. */
const LARGEST_LENGTH = 0xffff_ffff;
/** From here on a length is what writers put down when they cannot know it. */
const UNKNOWN_FROM = 0x7fff_0000;

function isUnknown(size: number): boolean {
  return size === 0 || size >= UNKNOWN_FROM;
}

function lengthField(length: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}

function tagAt(view: DataView, offset: number): string {
  return Buffer.from(view.buffer, view.byteOffset + offset, 4).toString('latin1');
}

/** How raw samples are to be read; realtime sessions and documents tell it beside the bytes. */
export interface PcmLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitDepth: number;
}

/**
 * Counts raw samples. They carry no mark and no length: all that can be seen is that a sample is
 * whole, and, where the layout is known, how long they play.
 */
export class PcmReader implements JudgingReader {
  want = 1;
  skip = 0;
  problem: string | undefined;
  begun = true;

  readonly #layout: PcmLayout | undefined;

  constructor(layout?: PcmLayout) {
    this.#layout = layout;
  }

  step(): void {
    this.skip = TO_THE_END;
  }

  finish(walker: Walker): Findings {
    const layout = this.#layout;
    const blockBytes = layout === undefined ? 2 : (layout.channels * layout.bitDepth) / 8;
    const isWhole = walker.bytes % blockBytes === 0;
    return {
      durationMs:
        layout === undefined
          ? undefined
          : (Math.floor(walker.bytes / blockBytes) / layout.sampleRate) * 1000,
      sampleRate: layout?.sampleRate,
      channels: layout?.channels,
      endIsProven: false,
      problem: problemOf(walker.bytes, isWhole),
    };
  }
}

function problemOf(bytes: number, isWhole: boolean): string | undefined {
  if (bytes === 0) return 'is empty';
  return isWhole ? undefined : 'is cut: it ends inside a sample';
}
