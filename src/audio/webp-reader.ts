import type { Findings, JudgingReader } from './verdict.ts';
import { TO_THE_END } from './verdict.ts';
import type { Walker } from './walker.ts';

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
