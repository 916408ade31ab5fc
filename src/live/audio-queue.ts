/** Above this the socket is not read any more; the research behind it is that players take seconds. */
const FULL_BYTES = 8 * 1024 * 1024;
/** Read again when so much less waits: soon, so that the other side sees us read. */
const ROOM_BYTES = 512 * 1024;
/** Small frames are handed on together. */
const TOGETHER_BYTES = 64 * 1024;

/** Told when the queue is full, and when it has room again. */
export interface QueueWatch {
  readonly full: () => void;
  readonly room: () => void;
}

/** Audio on its way from the socket to a listener who may be slow: bounded, in order, read once. */
export class AudioQueue implements AsyncIterable<Uint8Array> {
  readonly #watch: QueueWatch;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isFull = false;
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = ignore;

  constructor(watch: QueueWatch) {
    this.#watch = watch;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  push(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    this.#wake();
    if (this.#isFull || this.#bytes <= FULL_BYTES) return;
    this.#isFull = true;
    this.#watch.full();
  }

  /** Nothing more comes. What is there can still be read; after it an error is thrown, if it is one. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** The same, and nothing more can be read. */
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
      else await this.#more();
    }
  }

  #take(): Uint8Array {
    let count = 0;
    let size = 0;
    for (const { length } of this.#chunks) {
      if (count > 0 && size + length > TOGETHER_BYTES) break;
      count += 1;
      size += length;
    }
    const taken = this.#chunks.splice(0, count);
    this.#bytes -= size;
    if (this.#isFull && this.#bytes <= FULL_BYTES - ROOM_BYTES) {
      this.#isFull = false;
      this.#watch.room();
    }
    const [only] = taken;
    return only !== undefined && count === 1 ? only : Buffer.concat(taken, size);
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function ignore(): void {}
