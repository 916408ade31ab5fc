import type { Findings, JudgingReader, Walker } from './reader.ts';
import { TO_THE_END } from './reader.ts';

const END = 0xd9;
const START_OF_SCAN = 0xda;

/**
 * Walks the segments of a JPEG, and through the coded picture behind each scan's head to the mark of its
 * end.
 */
export class JpegReader implements JudgingReader {
  want = 2;
  skip = 0;
  problem: string | undefined;
  begun = false;

  /** Where the walk is: before a mark, before the length of a segment, or inside of a coded picture. */
  #at: 'mark' | 'length' | 'picture' = 'mark';
  #mark = 0;
  #hasPixels = false;
  #isEnded = false;

  step(bytes: Uint8Array, at: number, position: number): void {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    if (!this.begun) {
      this.begun = first === 0xff && second === 0xd8;
      return this.begun ? this.#go(2, 'mark') : this.#stop('is not jpeg');
    }
    if (this.#at === 'length') return this.#stepLength(first * 256 + second);
    if (this.#at === 'picture') return this.#stepPicture(first, second);
    if (first !== 0xff) return this.#stop(`has bytes that are no mark at offset ${position}`);
    // Any number of them may fill the place before a mark.
    if (second === 0xff) return this.#go(1, 'mark');
    return this.#stepMark(second);
  }

  finish(walker: Walker): Findings {
    return { endIsProven: this.#isEnded, problem: this.problem ?? this.#problemAtEnd(walker) };
  }

  #stepMark(mark: number): void {
    if (mark === END) {
      this.#isEnded = true;
      // Cameras and phones put more behind it.
      this.skip = TO_THE_END;
      return;
    }
    this.#mark = mark;
    const isAlone = mark === 0x01 || (mark >= 0xd0 && mark <= 0xd7);
    this.#go(2, isAlone ? 'mark' : 'length');
  }

  #stepLength(length: number): void {
    if (length < 2) return this.#stop('is damaged: a segment of it is shorter than its own length');
    const isScan = this.#mark === START_OF_SCAN;
    this.#hasPixels ||= isScan;
    return this.#go(length, isScan ? 'picture' : 'mark');
  }

  /** Within it, 0xff is followed by 0 or by the mark of a restart; anything else ends it. */
  #stepPicture(first: number, second: number): void {
    const isMark = first === 0xff && second !== 0x00 && second !== 0xff;
    const isRestart = second >= 0xd0 && second <= 0xd7;
    if (!isMark) return this.#go(1, 'picture');
    if (isRestart) return this.#go(2, 'picture');
    return this.#stepMark(second);
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (walker.bytes === 0) return 'is empty';
    if (!this.#isEnded) return 'is cut: its end is missing';
    return this.#hasPixels ? undefined : 'has no picture in it';
  }

  #go(skip: number, at: 'mark' | 'length' | 'picture'): void {
    this.skip = skip;
    this.#at = at;
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}

const MARK = '89504e470d0a1a0a';
const HEAD_BYTES = 8;
const CRC_BYTES = 4;
/** The type of a chunk and what is in it are summed; its length is not. */
const TYPE_BYTES = 4;

/** Walks the chunks of a PNG to its `IEND`, and checks the sum of each. */
export class PngReader implements JudgingReader {
  want = HEAD_BYTES;
  skip = 0;
  problem: string | undefined;
  begun = false;

  #isEnded = false;
  #hasPixels = false;
  #crc: number | undefined;
  /** Bytes of the chunk that are still to be summed. */
  #summed = 0;
  #name = '';
  #end = 0;

  step(bytes: Uint8Array, at: number, position: number): void {
    if (!this.begun) {
      this.begun = Buffer.from(bytes.subarray(at, at + HEAD_BYTES)).toString('hex') === MARK;
      if (!this.begun) return this.#stop('is not png');
      return this.#go(HEAD_BYTES, HEAD_BYTES);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    if (this.#crc !== undefined) return this.#stepSum(view, position);
    const length = view.getUint32(0);
    this.#name = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1');
    if (length > 0x7f_ff_ff_ff || !/^[A-Za-z]{4}$/.test(this.#name)) {
      return this.#stop(`has bytes that are no PNG chunk at offset ${position}`);
    }
    this.#crc = CRC32_START;
    this.#summed = TYPE_BYTES + length;
    // The length itself is passed over unsummed.
    return this.#go(4 + this.#summed, CRC_BYTES);
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    if (this.#crc === undefined) return;
    const unsummed = this.skip - this.#summed;
    const start = Math.min(to, from + Math.max(0, unsummed));
    this.#crc = crc32Over(this.#crc, bytes, start, to);
    this.#summed -= to - start;
  }

  finish(walker: Walker): Findings {
    return { endIsProven: this.#isEnded, problem: this.problem ?? this.#problemAtEnd(walker) };
  }

  #stepSum(view: DataView, position: number): void {
    if (view.getUint32(0) !== crc32End(this.#crc ?? 0)) {
      return this.#stop(`is damaged: the checksum of its ${this.#name} is wrong`);
    }
    this.#crc = undefined;
    this.#hasPixels ||= this.#name === 'IDAT';
    if (this.#name !== 'IEND') return this.#go(CRC_BYTES, HEAD_BYTES);
    this.#isEnded = true;
    this.#end = position + CRC_BYTES;
    return this.#go(TO_THE_END, HEAD_BYTES);
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (walker.bytes === 0) return 'is empty';
    if (!this.#isEnded) return 'is cut: its end is missing';
    if (!this.#hasPixels) return 'has no picture in it';
    return walker.bytes > this.#end ? 'has bytes behind its end' : undefined;
  }

  #go(skip: number, want: number): void {
    this.skip = skip;
    this.want = want;
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}

const RIFF_BYTES = 12;
const CHUNK_BYTES = 8;

/** Walks the chunks of a WebP up to the length that its head tells. */
export class WebpReader implements JudgingReader {
  want = RIFF_BYTES;
  skip = 0;
  problem: string | undefined;
  begun = false;

  #end = 0;
  #hasPixels = false;

  step(bytes: Uint8Array, at: number, position: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    const text = (offset: number): string =>
      Buffer.from(bytes.subarray(at + offset, at + offset + 4)).toString('latin1');
    if (!this.begun) {
      this.begun = text(0) === 'RIFF' && text(8) === 'WEBP';
      if (!this.begun) return this.#stop('is not webp');
      this.#end = 8 + view.getUint32(4, true);
      return this.#go(RIFF_BYTES, CHUNK_BYTES);
    }
    if (position >= this.#end) return this.#stop('has bytes behind its end');
    const length = view.getUint32(4, true);
    const name = text(0);
    const padded = CHUNK_BYTES + length + (length % 2);
    if (!/^[\x20-\x7e]{4}$/.test(name) || position + padded > this.#end) {
      return this.#stop(`has bytes that are no WebP chunk at offset ${position}`);
    }
    this.#hasPixels ||= name === 'VP8 ' || name === 'VP8L' || name === 'ANMF';
    return this.#go(padded, CHUNK_BYTES);
  }

  finish(walker: Walker): Findings {
    return {
      endIsProven: this.begun && this.problem === undefined,
      problem: this.problem ?? this.#problemAtEnd(walker),
    };
  }

  #problemAtEnd({ bytes }: Walker): string | undefined {
    if (bytes === 0) return 'is empty';
    if (!this.begun || bytes < this.#end) {
      return `is cut: it has ${bytes} of ${this.#end} bytes`;
    }
    if (bytes > this.#end) return 'has bytes behind its end';
    return this.#hasPixels ? undefined : 'has no picture in it';
  }

  #go(skip: number, want: number): void {
    this.skip = skip;
    this.want = want;
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}

let table: Uint32Array | undefined;

/** The checksum of PNG and gzip (polynomial 0xEDB88320), bit for bit as the formats describe it. */
function newTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      value = (value & 1) === 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
    }
    return value >>> 0;
  });
}

/** What a checksum begins with. */
const CRC32_START = 0xff_ff_ff_ff;

/** Goes on with a checksum over `bytes[from..to)`. */
function crc32Over(state: number, bytes: Uint8Array, from: number, to: number): number {
  const known = (table ??= newTable());
  let value = state;
  for (let index = from; index < to; index += 1) {
    value = (known[(value ^ (bytes[index] ?? 0)) & 0xff] ?? 0) ^ (value >>> 8);
  }
  return value >>> 0;
}

/** The checksum itself. */
function crc32End(state: number): number {
  return (state ^ 0xff_ff_ff_ff) >>> 0;
}
