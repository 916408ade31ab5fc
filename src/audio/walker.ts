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
