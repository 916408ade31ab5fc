const FULL_BYTES = 8 * 1024 * 1024;
// The paused socket is resumed when the reader has taken this many bytes.
const RESUME_BYTES = 512 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** A queue of received audio, which can be read once. If the reader is slow, a full queue pauses the WebSocket. */
export class AudioQueue implements AsyncIterable<Uint8Array> {
  isFull = false;
  readonly #onFull: () => void;
  readonly #onDrain: () => void;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(onFull: () => void, onDrain: () => void) {
    this.#onFull = onFull;
    this.#onDrain = onDrain;
  }

  push(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    this.#wake();
    if (this.isFull || this.#bytes <= FULL_BYTES) return;
    this.isFull = true;
    this.#onFull();
  }

  /** Ends the queue once all queued audio is read. If `error` is given, reading then throws this error. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Discards the queued audio, and ends the queue with an error. */
  stop(error: Error): void {
    this.#chunks = [];
    this.#bytes = 0;
    this.#end = { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      if (this.#chunks.length > 0) yield this.#take();
      else if (this.#end?.error !== undefined) throw this.#end.error;
      else if (this.#end !== undefined) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #take(): Uint8Array {
    let count = 0;
    let size = 0;
    for (const { length } of this.#chunks) {
      if (count > 0 && size + length > CHUNK_BYTES) break;
      count += 1;
      size += length;
    }
    const taken = this.#chunks.splice(0, count);
    this.#bytes -= size;
    if (this.isFull && this.#bytes <= FULL_BYTES - RESUME_BYTES) {
      this.isFull = false;
      this.#onDrain();
    }
    const [only] = taken;
    return only !== undefined && count === 1 ? only : Buffer.concat(taken, size);
  }
}
