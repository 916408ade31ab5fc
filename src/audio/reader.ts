import type { Format } from './formats.ts';

/** Bytes to write over those at a position. */
export interface Correction {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** The result of verifying a file, once its last byte has been seen. */
export interface Verdict {
  readonly format: Format;
  readonly bytes: number;
  /** Undefined for an empty file, and where the format does not record it. */
  readonly durationMs: number | undefined;
  readonly sampleRate: number | undefined;
  readonly channels: number | undefined;
  /** Codec inside a container: `vorbis`, `opus`, `flac`. */
  readonly codec: string | undefined;
  /** Whether the file is of its format and nothing is seen to be missing. */
  readonly complete: boolean;
  /**
   * Whether a truncation would have been detected: the format says where it ends (an Ogg end mark, a length
   * in a WAV header, a frame count in an mp3's Info tag). Without it, a file cut between two frames looks complete.
   */
  readonly endIsProven: boolean;
  /** Bytes to overwrite in a complete file, such as the lengths in the header of a streamed WAV. */
  readonly corrections: readonly Correction[];
  /** What is wrong, as the rest of a sentence that begins with the file's name. */
  readonly problem: string | undefined;
}

/** What a reader reports about a file; missing fields are unknown. */
export type Findings = Pick<Verdict, 'endIsProven'> &
  Partial<
    Pick<Verdict, 'channels' | 'codec' | 'corrections' | 'durationMs' | 'problem' | 'sampleRate'>
  >;

/**
 * A parser of one format, driven by a {@link Walker}: it reads `want` bytes and sets how many to skip. The chunks of the
 * stream do not matter.
 */
export interface FormatReader {
  /** Bytes that `step` needs to see at once. */
  want: number;
  /** Bytes to skip before the next `step`, counted from where the last one looked. */
  skip: number;
  /**
   * Parses `want` bytes from index `at`, which are at `position` of the file, and sets `want` and `skip`. With
   * `skip` 0 it must want more than before.
   */
  step(bytes: Uint8Array, at: number, position: number): void;
  /** Called with every skipped byte, in order, in pieces. */
  passed?(bytes: Uint8Array, from: number, to: number): void;
}

/** Skips all that follows. */
export const TO_THE_END = Number.MAX_SAFE_INTEGER;

/** A reader that verifies its file. */
export abstract class VerifyingReader implements FormatReader {
  want: number;
  skip = 0;
  /** Set as soon as something is wrong; the rest of the bytes is then only counted. */
  problem: string | undefined;
  /** Whether anything of the format was recognised. */
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

/** Drives a {@link FormatReader} over chunks as they arrive; buffers only the bytes it wants. */
export class Walker {
  /** All bytes so far. */
  bytes = 0;
  /** Offset in the file of the byte that the reader sees next, or is skipping. */
  position = 0;
  readonly #reader: FormatReader;
  #carry: Uint8Array = new Uint8Array(64);
  #carried = 0;

  constructor(reader: FormatReader) {
    this.#reader = reader;
  }

  /** Bytes that arrived but were too few for the next step. */
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

  /** Skips carried bytes, then bytes of the chunk; returns how many of the chunk. */
  #pass(chunk: Uint8Array, at: number): number {
    const reader = this.#reader;
    const carried = Math.min(reader.skip, this.#carried);
    if (carried > 0) {
      reader.passed?.(this.#carry, 0, carried);
      this.#carry.copyWithin(0, carried, this.#carried);
      this.#carried -= carried;
      reader.skip -= carried;
      this.position += carried;
      // The rest was carried for an earlier, longer look; it comes before the chunk.
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
