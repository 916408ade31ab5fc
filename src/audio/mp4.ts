import { sniff } from './sniff.ts';
import type { Findings, JudgingReader, Walker } from './reader.ts';
import { TO_THE_END } from './reader.ts';

const HEAD_BYTES = 8;
const LONG_HEAD_BYTES = 16;

/**
 * Walks the outermost boxes of an MP4. They follow each other without a gap, so that a cut is seen
 * wherever it is; what is played has its index (`moov`) and its media (`mdat`) in it.
 */
export class Mp4Reader implements JudgingReader {
  want = 12;
  skip = 0;
  problem: string | undefined;
  begun = false;

  readonly #seen = new Set<string>();
  /** The last box goes on to the end of the file, wherever that is. */
  #isOpen = false;
  #end = 0;

  step(bytes: Uint8Array, at: number, position: number): void {
    if (!this.begun) {
      const sniffed = sniff(bytes.subarray(at, at + this.want));
      this.begun = sniffed.kind === 'known' && sniffed.format === 'mp4';
      if (!this.begun) return this.#stop('is not mp4');
      this.want = HEAD_BYTES;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    const name = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1');
    const short = view.getUint32(0);
    if (short === 1 && this.want === HEAD_BYTES) {
      // Larger than four bytes can tell: eight more follow.
      this.want = LONG_HEAD_BYTES;
      return undefined;
    }
    const size = this.want === LONG_HEAD_BYTES ? Number(view.getBigUint64(8)) : short;
    return this.#pass(name, size, position);
  }

  finish(walker: Walker): Findings {
    const isWhole = !this.#isOpen && this.begun && walker.bytes === this.#end;
    return { endIsProven: isWhole, problem: this.problem ?? this.#problemAtEnd(walker) };
  }

  #pass(name: string, size: number, position: number): void {
    const least = this.want;
    this.want = HEAD_BYTES;
    if (!/^[\x20-\x7e\xa9]{4}$/.test(name) || (size !== 0 && size < least)) {
      return this.#stop(`has bytes that are no MP4 box at offset ${position}`);
    }
    this.#seen.add(name);
    this.#isOpen = size === 0;
    this.#end = position + size;
    this.skip = size === 0 ? TO_THE_END : size;
    return undefined;
  }

  #problemAtEnd({ bytes, held }: Walker): string | undefined {
    if (bytes === 0) return 'is empty';
    if (!this.begun) return 'is not mp4';
    if (!this.#isOpen && bytes < this.#end) return `is cut: it has ${bytes} of ${this.#end} bytes`;
    if (held.length > 0) return 'is cut: it ends inside a box';
    if (!this.#seen.has('moov')) return 'is cut: it has no index of what is in it';
    return this.#seen.has('mdat') ? undefined : 'has no pictures or sound in it';
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}
