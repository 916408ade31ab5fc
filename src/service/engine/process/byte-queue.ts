/** Takes lines and counted bytes from a stream; reads no more of it than somebody asked for. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  /** Read and not taken yet. */
  #parts: Buffer[] = [];
  #length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * The next line without its line feed, or `undefined` at the end of the stream.
   * @returns `'too long'` when the first `maxBytes` have no line feed
   */
  async line(maxBytes: number): Promise<Buffer | 'too long' | undefined> {
    for (;;) {
      const last = this.#parts.at(-1);
      const found = last?.indexOf(LINE_FEED) ?? -1;
      if (last !== undefined && found !== -1) {
        const length = this.#length - last.length + found;
        return length > maxBytes ? 'too long' : this.#remove(length + 1).subarray(0, length);
      }
      if (this.#length > maxBytes) return 'too long';
      if (!(await this.#read())) return undefined;
    }
  }

  /** The next `count` bytes, or `undefined` when the stream ends before them. */
  async bytes(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      if (!(await this.#read())) return undefined;
    }
    return this.#remove(count);
  }

  async #read(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#parts.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
    this.#length += next.value.byteLength;
    return true;
  }

  #remove(count: number): Buffer {
    const all = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const whole = all ?? Buffer.alloc(0);
    const rest = whole.subarray(count);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return whole.subarray(0, count);
  }
}

const LINE_FEED = 0x0a;
