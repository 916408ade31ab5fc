import { crc32 } from 'node:zlib';
import type { Findings, Walker } from './reader.ts';
import { SKIP_TO_END, VerifyingReader, tagAt } from './reader.ts';
import { sniff } from './sniff.ts';
import { CHUNK_HEAD_BYTES, RIFF_BYTES } from './wav.ts';

const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

/** Verifies the segments of a JPEG, and the entropy-coded data after each scan header. */
export class JpegReader extends VerifyingReader {
  #next: 'marker' | 'length' | 'data' = 'marker';
  #marker = 0;
  #hasScan = false;
  #isEnded = false;

  constructor() {
    super(2);
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    if (!this.begun) {
      this.begun = first === 0xff && second === 0xd8;
      return this.begun ? this.#expect('marker', 2) : this.stop('is not jpeg');
    }
    if (this.#next === 'length') return this.#stepLength(first * 256 + second);
    if (this.#next === 'data') return this.#stepData(first, second);
    if (first !== 0xff) return this.stop(`has bytes that are not a marker at offset ${position}`);
    // A marker may be preceded by any number of fill bytes.
    return second === 0xff ? this.#expect('marker', 1) : this.#stepMarker(second);
  }

  finish(): Findings {
    const problem = this.#hasScan ? undefined : 'has no picture';
    return {
      endIsProven: this.#isEnded,
      problem: this.#isEnded ? problem : 'is cut: its end is missing',
    };
  }

  #stepMarker(marker: number): void {
    if (marker === END_OF_IMAGE) {
      this.#isEnded = true;
      // Accept data after the end of the image, which cameras and phones add.
      this.skip = SKIP_TO_END;
      return;
    }
    this.#marker = marker;
    const hasNoLength = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
    this.#expect(hasNoLength ? 'marker' : 'length', 2);
  }

  #stepLength(length: number): void {
    if (length < 2) return this.stop('is damaged: a segment is shorter than its length field');
    const isScan = this.#marker === START_OF_SCAN;
    this.#hasScan ||= isScan;
    return this.#expect(isScan ? 'data' : 'marker', length);
  }

  // In entropy-coded data, 0xff is followed by 0 or a restart marker; any other marker ends the data.
  #stepData(first: number, second: number): void {
    const isMarker = first === 0xff && second !== 0x00 && second !== 0xff;
    if (!isMarker) return this.#expect('data', 1);
    const isRestart = second >= 0xd0 && second <= 0xd7;
    return isRestart ? this.#expect('data', 2) : this.#stepMarker(second);
  }

  #expect(next: 'marker' | 'length' | 'data', skip: number): void {
    this.skip = skip;
    this.#next = next;
  }
}

const PNG_SIGNATURE = '89504e470d0a1a0a';
// The length of the file signature, and of the length and type fields of a chunk.
const PNG_HEAD_BYTES = 8;
const CRC_BYTES = 4;

/** Verifies the chunks of a PNG up to `IEND`, and their checksums. */
export class PngReader extends VerifyingReader {
  #isEnded = false;
  #hasPixels = false;
  #crc: number | undefined;
  #unsummed = 0;
  #name = '';
  #end = 0;

  constructor() {
    super(PNG_HEAD_BYTES);
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    if (!this.begun) {
      const signature = Buffer.from(bytes.subarray(at, at + PNG_HEAD_BYTES)).toString('hex');
      this.begun = signature === PNG_SIGNATURE;
      return this.begun ? this.advance(PNG_HEAD_BYTES, PNG_HEAD_BYTES) : this.stop('is not png');
    }
    const value = new DataView(bytes.buffer, bytes.byteOffset + at, this.want).getUint32(0);
    if (this.#crc !== undefined) return this.#stepChecksum(value, position);
    this.#name = tagAt(bytes, at + 4);
    if (value > 0x7f_ff_ff_ff || !/^[A-Za-z]{4}$/.test(this.#name)) {
      return this.stop(`has bytes that are not a PNG chunk at offset ${position}`);
    }
    this.#crc = 0;
    this.#unsummed = 4 + value;
    return this.advance(4 + this.#unsummed, CRC_BYTES);
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    if (this.#crc === undefined) return;
    const start = Math.min(to, from + Math.max(0, this.skip - this.#unsummed));
    this.#crc = crc32(bytes.subarray(start, to), this.#crc);
    this.#unsummed -= to - start;
  }

  finish(walker: Walker): Findings {
    return { endIsProven: this.#isEnded, problem: this.#problemAtEnd(walker) };
  }

  #stepChecksum(expected: number, position: number): void {
    if (expected !== this.#crc) {
      return this.stop(`is damaged: the checksum of its ${this.#name} is wrong`);
    }
    this.#crc = undefined;
    this.#hasPixels ||= this.#name === 'IDAT';
    if (this.#name !== 'IEND') return this.advance(CRC_BYTES, PNG_HEAD_BYTES);
    this.#isEnded = true;
    this.#end = position + CRC_BYTES;
    return this.advance(SKIP_TO_END, PNG_HEAD_BYTES);
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (!this.#isEnded) return 'is cut: its end is missing';
    if (!this.#hasPixels) return 'has no picture';
    return walker.bytes > this.#end ? 'has bytes after its end' : undefined;
  }
}

/** Verifies the chunks of a WebP file, up to the length declared in the file header. */
export class WebpReader extends VerifyingReader {
  #end = 0;
  #hasPixels = false;

  constructor() {
    super(RIFF_BYTES);
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    const name = tagAt(bytes, at);
    const length = new DataView(bytes.buffer, bytes.byteOffset + at, this.want).getUint32(4, true);
    if (!this.begun) {
      this.begun = name === 'RIFF' && tagAt(bytes, at + 8) === 'WEBP';
      this.#end = 8 + length;
      return this.begun ? this.advance(RIFF_BYTES, CHUNK_HEAD_BYTES) : this.stop('is not webp');
    }
    if (position >= this.#end) return this.stop('has bytes after its end');
    const padded = CHUNK_HEAD_BYTES + length + (length % 2);
    if (!/^[\x20-\x7e]{4}$/.test(name) || position + padded > this.#end) {
      return this.stop(`has bytes that are not a WebP chunk at offset ${position}`);
    }
    this.#hasPixels ||= name === 'VP8 ' || name === 'VP8L' || name === 'ANMF';
    return this.advance(padded, CHUNK_HEAD_BYTES);
  }

  finish({ bytes }: Walker): Findings {
    const endIsProven = this.begun && this.problem === undefined;
    if (!this.begun || bytes < this.#end) {
      return { endIsProven, problem: `is cut: it has ${bytes} of ${this.#end} bytes` };
    }
    if (bytes > this.#end) return { endIsProven, problem: 'has bytes after its end' };
    return { endIsProven, problem: this.#hasPixels ? undefined : 'has no picture' };
  }
}

const BOX_HEAD_BYTES = 8;
const LONG_BOX_HEAD_BYTES = 16;

/** Verifies the top-level boxes of an MP4, which must include `moov` and `mdat`. Detects every truncated file. */
export class Mp4Reader extends VerifyingReader {
  readonly #seen = new Set<string>();
  // The last box may declare no size; it then extends to the end of the file.
  #isOpen = false;
  #end = 0;

  constructor() {
    super(12);
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    if (!this.begun) {
      const sniffed = sniff(bytes.subarray(at, at + this.want));
      this.begun = sniffed.kind === 'known' && sniffed.format === 'mp4';
      if (!this.begun) return this.stop('is not mp4');
      this.want = BOX_HEAD_BYTES;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    const name = tagAt(bytes, at + 4);
    const short = view.getUint32(0);
    if (short === 1 && this.want === BOX_HEAD_BYTES) {
      // A size of 1 means that a 64-bit size follows in the next eight bytes.
      this.want = LONG_BOX_HEAD_BYTES;
      return undefined;
    }
    const size = this.want === LONG_BOX_HEAD_BYTES ? Number(view.getBigUint64(8)) : short;
    if (!/^[\x20-\x7e\xa9]{4}$/.test(name) || (size !== 0 && size < this.want)) {
      return this.stop(`has bytes that are not an MP4 box at offset ${position}`);
    }
    this.#seen.add(name);
    this.#isOpen = size === 0;
    this.#end = position + size;
    return this.advance(size === 0 ? SKIP_TO_END : size, BOX_HEAD_BYTES);
  }

  finish(walker: Walker): Findings {
    const isWhole = !this.#isOpen && this.begun && walker.bytes === this.#end;
    return { endIsProven: isWhole, problem: this.#problemAtEnd(walker) };
  }

  #problemAtEnd({ bytes, held }: Walker): string | undefined {
    if (!this.begun) return 'is not mp4';
    if (!this.#isOpen && bytes < this.#end) return `is cut: it has ${bytes} of ${this.#end} bytes`;
    if (held.length > 0) return 'is cut: it ends inside a box';
    if (!this.#seen.has('moov')) return 'is cut: it has no index (moov)';
    return this.#seen.has('mdat') ? undefined : 'has no media data (mdat)';
  }
}
