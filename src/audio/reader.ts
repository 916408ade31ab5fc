import type { Format } from './formats.ts';

/** Bytes that belong in the place of others. */
export interface Correction {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** What is known of a file of sound once its last byte has been seen. */
export interface Verdict {
  readonly format: Format;
  readonly bytes: number;
  /** Playing time; undefined where the format does not tell it, or nothing is there. */
  readonly durationMs: number | undefined;
  readonly sampleRate: number | undefined;
  readonly channels: number | undefined;
  /** Inside of a container: `vorbis`, `opus`, `flac`. */
  readonly codec: string | undefined;
  /** Whether it is of its format and nothing is seen to be missing. */
  readonly complete: boolean;
  /**
   * Whether a cut would have been seen: the format says where it ends (an Ogg end mark, a length in
   * a WAV header, a frame count in an mp3's Info tag). Without it a file that was cut at the right
   * place, such as between two mp3 frames, looks complete.
   */
  readonly endIsProven: boolean;
  /**
   * What to write over in a complete file: who streams a WAV writes its header before the lengths in
   * it are known, and many programs believe what they read there.
   */
  readonly corrections: readonly Correction[];
  /** What is wrong, as the rest of a sentence that begins with the file's name. */
  readonly problem: string | undefined;
}

/** What a format's reader finds out about the sound. */
export interface Findings {
  readonly durationMs?: number | undefined;
  readonly sampleRate?: number | undefined;
  readonly channels?: number | undefined;
  readonly codec?: string | undefined;
  readonly endIsProven: boolean;
  readonly corrections?: readonly Correction[];
  readonly problem?: string | undefined;
}

/** A reader that judges: what it has seen so far, and what it makes of the end. */
export interface JudgingReader extends FormatReader {
  /** Set as soon as something is wrong; the rest of the bytes is then only counted. */
  problem: string | undefined;
  /** Whether anything of the format was recognised at all. */
  begun: boolean;
  /** The last word, given how the walk ended. */
  finish(walker: Walker): Findings;
}

/** Lets a reader pass over all that follows. */
export const TO_THE_END = Number.MAX_SAFE_INTEGER;

/**
 * A reader of one format, driven by a {@link Walker}: it looks at `want` bytes, decides, and says how
 * far to go on. It never sees how the bytes were cut into chunks.
 */
export interface FormatReader {
  /** Bytes that `step` needs to see at once. */
  want: number;
  /** Bytes to pass over before the next `step`, counted from where the last one looked. */
  skip: number;
  /**
   * Looks at `want` bytes at `at`, which lie at `position` of the whole; sets `want` and `skip`. With
   * `skip` 0 it must want more than before.
   */
  step(bytes: Uint8Array, at: number, position: number): void;
  /** Called with every byte that is passed over, in order, in pieces. */
  passed?(bytes: Uint8Array, from: number, to: number): void;
}

/** Walks a {@link FormatReader} over chunks as they arrive, keeping only the few bytes it wants. */
export class Walker {
  /** All bytes so far. */
  bytes = 0;
  /** Offset in the whole of the byte that the reader looks at next, or is passing over. */
  position = 0;
  readonly #reader: FormatReader;
  #carry: Uint8Array = new Uint8Array(64);
  #carried = 0;

  constructor(reader: FormatReader) {
    this.#reader = reader;
  }

  /** Bytes that have arrived but were too few for the next step. */
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

  /** Passes over what was carried, then over the chunk; returns how much of the chunk. */
  #pass(chunk: Uint8Array, at: number): number {
    const reader = this.#reader;
    const carried = Math.min(reader.skip, this.#carried);
    if (carried > 0) {
      reader.passed?.(this.#carry, 0, carried);
      this.#carry.copyWithin(0, carried, this.#carried);
      this.#carried -= carried;
      reader.skip -= carried;
      this.position += carried;
      // What is left was asked for by an earlier look and comes before the chunk.
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
