import { CRC32_START, crc32End, crc32Over } from './crc32.ts';
import type { Findings, JudgingReader } from './verdict.ts';
import { TO_THE_END } from './verdict.ts';
import type { Walker } from './walker.ts';

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
