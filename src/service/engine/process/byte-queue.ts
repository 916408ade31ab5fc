/** Reads a stream by line or by number of bytes. Does not read ahead. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * Removes the next line and returns it without the line feed.
   * @returns undefined at the end of the stream; `'too long'` if the line has more than `maxBytes` bytes
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

  /** Removes and returns `count` bytes; returns undefined if the stream ends early. */
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
