const FIRST_CAPACITY = 64 * 1024;

/** A file that exists in memory only. */
export class MemoryFile {
  #bytes: Uint8Array;
  #length: number;

  constructor(contents: Uint8Array = new Uint8Array(0)) {
    this.#bytes = contents;
    this.#length = contents.length;
  }

  get length(): number {
    return this.#length;
  }

  /** Its contents, until the next write. */
  get contents(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** At most `length` bytes from `position`; fewer at the end. */
  read(position: number, length: number): Uint8Array {
    return this.contents.subarray(position, position + length);
  }

  /** Writes over what is at `position`, filling a hole before it with zeros. */
  write(position: number, bytes: Uint8Array): void {
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#bytes.length, FIRST_CAPACITY));
      grown.set(this.contents);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#length = Math.max(this.#length, end);
  }

  truncate(): void {
    this.#length = 0;
  }
}
