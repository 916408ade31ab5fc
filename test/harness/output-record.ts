import type { Readable } from 'node:stream';
import { Watch } from './watch.ts';

export type OutputName = 'stdout' | 'stderr';

/** Records one output of a program and waits for patterns in it. */
export class OutputRecord {
  readonly #name: OutputName;
  readonly #stream: Readable | undefined;
  readonly #chunks: Uint8Array[] = [];
  readonly #ended: Promise<void>;
  readonly #watch = new Watch();
  #isReading = false;
  #isClosed = false;

  /** `stream` is undefined where the output goes to a file. */
  constructor(name: OutputName, stream: Readable | undefined, isHeld: boolean) {
    this.#name = name;
    this.#stream = stream;
    // Destroying our end while the program writes makes the stream fail; that is what was asked for.
    stream?.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      if (stream === undefined) {
        resolve();
      }
      stream?.once('close', resolve);
    });
    if (isHeld) {
      // Without this, execa drains a pipe that the test does not read.
      stream?.pause();
    } else {
      this.resume();
    }
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Begins to read. */
  resume(): void {
    if (this.#isReading) {
      return;
    }
    this.#isReading = true;
    this.#stream?.on('data', (chunk: Uint8Array) => {
      this.#chunks.push(chunk);
      this.#watch.changed();
    });
    this.#stream?.resume();
  }

  /** Closes the reader's end of the pipe. */
  destroy(): void {
    this.#stream?.destroy();
  }

  /** Resolves with the first match in everything that was written, from the beginning. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#watch.until(() => {
      const text = this.bytes.toString();
      const match = pattern.exec(text);
      if (match === null && this.#isClosed) {
        throw new Error(`${this.#name} ended without ${String(pattern)}; it was:\n${text}`);
      }
      return match ?? undefined;
    });
  }

  /** The program has ended: reads what is left, after which who still waits, waits in vain. */
  async drain(): Promise<void> {
    this.resume();
    await this.#ended;
    this.#isClosed = true;
    this.#watch.changed();
  }
}
