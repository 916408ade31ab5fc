import { Failure } from '../../errors/failure.ts';
import type { Correction, FormatReader } from '../reader.ts';
import { TO_THE_END, Walker } from '../reader.ts';
import { ByteSink, misfit } from './audio-joiner.ts';
import type { AudioJoiner, JoinerOptions } from './audio-joiner.ts';

/** One header, and behind it the samples of all parts. */
export function createWavJoiner({ isSeekable }: JoinerOptions): AudioJoiner {
  const sink = new ByteSink();
  let format: Uint8Array | undefined;
  let dataBytes = 0;
  /** Bytes of samples before each part. */
  const before: number[] = [];
  const onFormat = (found: Uint8Array): void => {
    before.push(dataBytes);
    if (format === undefined) {
      format = found;
      sink.push(wavHead(found, STREAM_LENGTH + RIFF_PREFIX - headLength(found)));
    } else if (Buffer.compare(format, found) !== 0) {
      throw misfit('their WAV formats differ');
    }
  };
  const onSamples = (samples: Uint8Array): void => {
    dataBytes += samples.length;
    const length = headLength(format ?? EMPTY) + dataBytes;
    if (isSeekable && length - RIFF_PREFIX > LARGEST_LENGTH) throw tooLarge();
    sink.push(samples);
  };
  let reader = new WavPartReader(onFormat, onSamples);
  let walker = new Walker(reader);
  return {
    write(chunk) {
      walker.write(chunk);
      return sink.take();
    },
    endPart() {
      if (!reader.hasSamples) throw misfit('one has no samples');
      reader = new WavPartReader(onFormat, onSamples);
      walker = new Walker(reader);
      return sink.take();
    },
    starts: () => before.map((bytes) => (bytes / bytesPerSecond(format)) * 1000),
    corrections() {
      return isSeekable && format !== undefined ? lengths(format, dataBytes) : [];
    },
  };
}

const EMPTY = new Uint8Array(0);
const RIFF_BYTES = 12;
/** What the length of the whole leaves out. */
const RIFF_PREFIX = 8;
const CHUNK_HEAD = 8;
const FORMAT_MIN = 16;
const FORMAT_MAX = 64;
/** What the fields can count. */
const LARGEST_LENGTH = 0xffff_ffff;
/** From here on a length says that the writer did not know it; 0 does as well. */
const UNKNOWN_FROM = 0x7fff_0000;
/** What a stream claims as its length: even, and positive to who reads it as signed. */
const STREAM_LENGTH = 0x7fff_fffe;

/** Finds the format and the samples of one part; every other chunk is left out. */
class WavPartReader implements FormatReader {
  want = RIFF_BYTES;
  skip = 0;
  hasSamples = false;
  readonly #onFormat: (format: Uint8Array) => void;
  readonly #onSamples: (samples: Uint8Array) => void;
  #hasFormat = false;
  /** Bytes of a chunk's head that pass before its samples, and samples that are still to come. */
  #headLeft = 0;
  #samplesLeft = 0;

  constructor(onFormat: (format: Uint8Array) => void, onSamples: (samples: Uint8Array) => void) {
    this.#onFormat = onFormat;
    this.#onSamples = onSamples;
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    if (position === 0) return this.#stepRiff(view);
    const id = tagAt(view, 0);
    const size = view.getUint32(4, true);
    if (id === 'fmt ' && !this.#hasFormat) return this.#stepFormat(view, size);
    if (id === 'data' && !this.hasSamples) return this.#stepSamples(size);
    return this.#pass(size);
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    const head = Math.min(this.#headLeft, to - from);
    this.#headLeft -= head;
    const samples = Math.min(this.#samplesLeft, to - from - head);
    if (samples === 0) return;
    this.#samplesLeft -= samples;
    this.#onSamples(bytes.subarray(from + head, from + head + samples));
  }

  #stepRiff(view: DataView): void {
    if (tagAt(view, 0) !== 'RIFF' || tagAt(view, 8) !== 'WAVE') throw misfit('one is no WAV');
    this.skip = RIFF_BYTES;
    this.want = CHUNK_HEAD;
  }

  #stepFormat(view: DataView, size: number): void {
    if (size < FORMAT_MIN || size > FORMAT_MAX) throw misfit('one has a strange WAV format');
    if (this.want < CHUNK_HEAD + size) {
      this.want = CHUNK_HEAD + size;
      return;
    }
    this.#hasFormat = true;
    this.#onFormat(new Uint8Array(view.buffer, view.byteOffset + CHUNK_HEAD, size).slice());
    this.#pass(size);
  }

  #stepSamples(size: number): void {
    if (!this.#hasFormat) throw misfit('one has samples before their format');
    this.hasSamples = true;
    this.#headLeft = CHUNK_HEAD;
    const isUnknown = size === 0 || size >= UNKNOWN_FROM;
    this.#samplesLeft = isUnknown ? TO_THE_END : size;
    if (isUnknown) this.skip = TO_THE_END;
    else this.#pass(size);
  }

  /** Chunks of odd length are padded to an even one. */
  #pass(size: number): void {
    this.skip = CHUNK_HEAD + size + (size % 2);
    this.want = CHUNK_HEAD;
  }
}

function bytesPerSecond(format: Uint8Array = EMPTY): number {
  const view = new DataView(format.buffer, format.byteOffset, format.byteLength);
  return format.length < FORMAT_MIN ? 1 : Math.max(1, view.getUint32(8, true));
}

function headLength(format: Uint8Array): number {
  return RIFF_BYTES + CHUNK_HEAD + format.length + (format.length % 2) + CHUNK_HEAD;
}

function wavHead(format: Uint8Array, dataBytes: number): Buffer {
  const length = headLength(format);
  const head = Buffer.alloc(length);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(length - RIFF_PREFIX + dataBytes, 4);
  head.write('WAVEfmt ', RIFF_PREFIX, 'latin1');
  head.writeUInt32LE(format.length, 16);
  head.set(format, RIFF_BYTES + CHUNK_HEAD);
  head.write('data', length - CHUNK_HEAD, 'latin1');
  head.writeUInt32LE(dataBytes, length - 4);
  return head;
}

function lengths(format: Uint8Array, dataBytes: number): readonly Correction[] {
  const head = wavHead(format, dataBytes);
  return [
    { position: 4, bytes: head.subarray(4, 8) },
    { position: head.length - 4, bytes: head.subarray(-4) },
  ];
}

function tooLarge(): Failure {
  return new Failure('the audio is longer than a WAV file can be (4 GiB)', {
    code: 'output',
    exit: 'output',
    hint: 'Ask for mp3 or ogg, or cut the text.',
  });
}

function tagAt(view: DataView, offset: number): string {
  return Buffer.from(view.buffer, view.byteOffset + offset, 4).toString('latin1');
}

/** Raw samples follow each other. */
export function createPcmJoiner(): AudioJoiner {
  return {
    write: (chunk) => chunk.slice(),
    endPart: () => new Uint8Array(0),
    starts: () => [],
    corrections: () => [],
  };
}
