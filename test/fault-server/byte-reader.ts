import type { Readable } from 'node:stream';

/** Reads a connection by the byte. Every method gives undefined once the other side has ended. */
export class ByteReader {
  #buffer: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(stream: Readable) {
    stream.on('data', (bytes: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, bytes]);
      this.#wake();
    });
    stream.on('close', () => {
      this.#isEnded = true;
      this.#wake();
    });
  }

  /** Up to and with the delimiter. */
  async readThrough(delimiter: string): Promise<Buffer | undefined> {
    return this.#take(() => {
      const at = this.#buffer.indexOf(delimiter);
      return at < 0 ? undefined : at + Buffer.byteLength(delimiter);
    });
  }

  /** Exactly so many bytes; `onBytes` sees each part as it comes. */
  async readExactly(count: number, onBytes: (bytes: Buffer) => void): Promise<true | undefined> {
    let left = count;
    while (left > 0) {
      const part = await this.#take(() => Math.min(left, this.#buffer.length) || undefined);
      if (part === undefined) {
        return undefined;
      }
      left -= part.length;
      onBytes(part);
    }
    return true;
  }

  async #take(wanted: () => number | undefined): Promise<Buffer | undefined> {
    for (;;) {
      const count = wanted();
      if (count !== undefined) {
        const taken = this.#buffer.subarray(0, count);
        this.#buffer = this.#buffer.subarray(count);
        return taken;
      }
      if (this.#isEnded) {
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
