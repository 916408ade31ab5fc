import type { Format } from './formats.ts';

/** Bytes that replace those at a position of a file. */
export interface Correction {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** The result of verifying a complete file. */
export interface Verdict {
  readonly format: Format;
  readonly bytes: number;
  /** Undefined for an empty file, or if the format does not contain it. */
  readonly durationMs: number | undefined;
  readonly sampleRate: number | undefined;
  readonly channels: number | undefined;
  /** Codec inside a container: `vorbis`, `opus`, `flac`. */
  readonly codec: string | undefined;
  /** Whether the file has the expected format and no part is known to be missing. */
  readonly complete: boolean;
  /** Whether the format marks the end of the file. If not, a file cut between two frames looks complete. */
  readonly endIsProven: boolean;
  /** Bytes to overwrite in a complete file, such as the lengths in the header of a streamed WAV. */
  readonly corrections: readonly Correction[];
  /** Why the file is invalid or incomplete, as a clause whose subject is the file. */
  readonly problem: string | undefined;
}

/** The results of a reader; missing fields are unknown. */
export type Findings = Pick<Verdict, 'endIsProven'> &
  Partial<
    Pick<Verdict, 'channels' | 'codec' | 'corrections' | 'durationMs' | 'problem' | 'sampleRate'>
  >;

/**
 * A parser of one format, driven by a {@link Walker}: it parses `want` bytes at a time and sets how many bytes to
 * skip. How the file is divided into chunks does not matter.
 */
export interface FormatReader {
  /** Number of bytes that `step` needs. */
  want: number;
  /** Number of bytes to skip before the next `step`, from the position of the last one. */
  skip: number;
  /**
   * Parses `want` bytes from index `at`, which is `position` in the file, and sets `want` and `skip`. If it leaves
   * `skip` at 0, it must increase `want`.
   */
  step(bytes: Uint8Array, at: number, position: number): void;
  /** Called with every skipped byte, in order, in pieces. */
  passed?(bytes: Uint8Array, from: number, to: number): void;
}

/** Value of `skip` for the rest of the file. */
export const TO_THE_END = Number.MAX_SAFE_INTEGER;

/** A reader that verifies a file. */
export abstract class VerifyingReader implements FormatReader {
  want: number;
  skip = 0;
  /** The first problem; bytes after it are only counted. */
  problem: string | undefined;
  /** Whether the beginning of the format was recognized. */
  begun = false;

  constructor(want: number) {
    this.want = want;
  }

  abstract step(bytes: Uint8Array, at: number, position: number): void;

  /** Returns the findings at the end of a file that is not empty. */
  abstract finish(walker: Walker): Findings;

  protected advance(skip: number, want: number): void {
    this.skip = skip;
    this.want = want;
  }

  protected stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}

/** Returns the Latin-1 text of four bytes, such as the name of a chunk or a box. */
export function tagAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + 4)).toString('latin1');
}

/** Passes streamed chunks to a {@link FormatReader}; buffers only the bytes that the reader wants. */
export class Walker {
  /** Number of bytes so far. */
  bytes = 0;
  /** Offset in the file of the next byte to parse or skip. */
  position = 0;
  readonly #reader: FormatReader;
  #carry: Uint8Array = new Uint8Array(64);
  #carried = 0;

  constructor(reader: FormatReader) {
    this.#reader = reader;
  }

  /** The last bytes, which are too few for the next step. */
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

  /** Skips carried bytes, then bytes of the chunk; returns the number of skipped bytes of the chunk. */
  #pass(chunk: Uint8Array, at: number): number {
    const reader = this.#reader;
    const carried = Math.min(reader.skip, this.#carried);
    if (carried > 0) {
      reader.passed?.(this.#carry, 0, carried);
      this.#carry.copyWithin(0, carried, this.#carried);
      this.#carried -= carried;
      reader.skip -= carried;
      this.position += carried;
      // Carried bytes that are left precede the chunk.
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
