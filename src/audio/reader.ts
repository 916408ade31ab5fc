import type { Format } from './formats.ts';

/** Bytes that replace the bytes at a position of a file. */
export interface Correction {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** The result of verifying a complete file. */
export interface AudioVerdict {
  readonly format: Format;
  readonly bytes: number;
  /** Duration in milliseconds; undefined for an empty file, or if the format does not contain it. */
  readonly durationMs: number | undefined;
  readonly sampleRate: number | undefined;
  readonly channels: number | undefined;
  /** The codec in an Ogg file, such as `vorbis`; undefined for other formats. */
  readonly codec: string | undefined;
  /** True if the file has the expected format and no truncation was detected. */
  readonly complete: boolean;
  /** True if the format marks the end of the file. Otherwise, a file truncated between frames looks complete. */
  readonly endIsProven: boolean;
  /** Bytes to overwrite once the file is complete, such as the lengths in the header of a streamed WAV file. */
  readonly corrections: readonly Correction[];
  /**
   * Why the file is invalid or incomplete, as the end of a sentence (for example, "is not a PNG"). Undefined for a
   * valid file.
   */
  readonly problem: string | undefined;
}

/** What a {@link FormatReader} found out about a file. A missing field means unknown. */
export interface Findings extends Partial<AudioVerdict> {
  readonly endIsProven: boolean;
}

/** A parser for one file format. A {@link Walker} passes the bytes of the file to the parser, in chunks of any size. */
export interface FormatReader {
  /** Number of bytes that the next call of `step` needs. */
  want: number;
  /** Number of bytes to advance before the next call of `step`, including the bytes that `step` has just parsed. */
  skip: number;
  /**
   * Parses `want` bytes, which begin at `bytes[at]`. Then sets `skip` and `want` for the next step. If it sets `skip`
   * to 0, it must increase `want`; otherwise, parsing would not advance.
   * @param position offset of these bytes in the file
   */
  step(bytes: Uint8Array, at: number, position: number): void;
  /**
   * Receives the skipped bytes, possibly in several calls: `bytes` from index `from` up to, but not including, `to`.
   */
  passed?(bytes: Uint8Array, from: number, to: number): void;
}

/** Value of `skip` that skips the rest of the file. */
export const SKIP_TO_END = Number.MAX_SAFE_INTEGER;

/** Base class of the readers that verify a file. */
export abstract class VerifyingReader implements FormatReader {
  want: number;
  skip = 0;
  /** The first problem found in the file. After a problem, the reader parses no more bytes. */
  problem: string | undefined;
  /** True once the reader has found that the file begins in the expected format. */
  begun = false;

  constructor(want: number) {
    this.want = want;
  }

  abstract step(bytes: Uint8Array, at: number, position: number): void;

  /** Returns what the reader found out about the whole file. Not called for an empty file. */
  abstract finish(walker: Walker): Findings;

  protected advance(skip: number, want: number): void {
    this.skip = skip;
    this.want = want;
  }

  protected stop(problem: string): void {
    this.problem = problem;
    this.skip = SKIP_TO_END;
  }
}

/** Returns four bytes as Latin-1 text, such as the name of a chunk or a box. */
export function tagAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + 4)).toString('latin1');
}

/** Passes the chunks of a stream to a {@link FormatReader}. Buffers only the bytes that the reader needs. */
export class Walker {
  /** Number of bytes received so far. */
  bytes = 0;
  /** Position in the file of the next byte to parse or skip. */
  position = 0;
  readonly #reader: FormatReader;
  #carry: Uint8Array = new Uint8Array(64);
  #carried = 0;

  constructor(reader: FormatReader) {
    this.#reader = reader;
  }

  /** The buffered bytes. They are too few for the next step of the reader. */
  get held(): Uint8Array {
    return this.#carry.subarray(0, this.#carried);
  }

  write(chunk: Uint8Array): void {
    const reader = this.#reader;
    let at = 0;
    this.bytes += chunk.length;
    for (;;) {
      if (reader.skip > 0) at += this.#pass(chunk, at);
      if (reader.skip > 0) return;
      if (this.#carried === 0 && chunk.length - at >= reader.want) {
        reader.step(chunk, at, this.position);
      } else {
        at += this.#collect(chunk, at);
        if (this.#carried < reader.want) return;
        reader.step(this.#carry, 0, this.position);
      }
    }
  }

  // Skips buffered bytes first, then bytes of the chunk. Returns how many bytes of the chunk were skipped.
  #pass(chunk: Uint8Array, at: number): number {
    const reader = this.#reader;
    const carried = Math.min(reader.skip, this.#carried);
    if (carried > 0) {
      reader.passed?.(this.#carry, 0, carried);
      this.#carry.copyWithin(0, carried, this.#carried);
      this.#carried -= carried;
      reader.skip -= carried;
      this.position += carried;
      // Some buffered bytes are left, which precede the chunk.
      if (this.#carried > 0) return 0;
    }
    const fresh = Math.min(reader.skip, chunk.length - at);
    reader.passed?.(chunk, at, at + fresh);
    reader.skip -= fresh;
    this.position += fresh;
    return fresh;
  }

  #collect(chunk: Uint8Array, at: number): number {
    const wanted = this.#reader.want;
    if (wanted > this.#carry.length) {
      const larger = new Uint8Array(wanted);
      larger.set(this.held);
      this.#carry = larger;
    }
    const fresh = Math.min(wanted - this.#carried, chunk.length - at);
    if (fresh <= 0) return 0;
    this.#carry.set(chunk.subarray(at, at + fresh), this.#carried);
    this.#carried += fresh;
    return fresh;
  }
}
