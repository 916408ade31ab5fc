import type { Clock } from '../effects/clock.ts';
import { TransportError } from './transport-error.ts';

/** Above this much unread data the sender is held, below half of it released. */
const HELD_BYTES = 1 << 20;

/** How the end of a body is known; what ends with the connection may have been cut unnoticed. */
export type Framing = 'length' | 'chunked' | 'close' | 'none';

export interface BodySource {
  readonly clock: Clock;
  readonly host: string;
  /** Longest wait for the next byte while somebody reads. */
  readonly idleTimeoutMs: number;
  hold(): void;
  release(): void;
  /** Gives the connection up. */
  abandon(error: Error): void;
}

/**
 * A body as it arrives: read once, with back-pressure, so that little of it is ever in memory. An
 * iteration that ends early gives the connection up. The time limit runs only while somebody waits.
 */
export class ResponseBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource;
  #chunks: Uint8Array[] = [];
  #unread = 0;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Bytes have arrived. */
  push(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(chunk);
    this.#unread += chunk.length;
    if (this.#unread >= HELD_BYTES) this.#source.hold();
    this.#wake?.();
  }

  /** Nothing more will come; without an error the body is whole. What came earlier is still read. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  /** Drops what is unread and gives the connection up. */
  discard(reason: Error = new Error('the body is not wanted')): void {
    const unfinished = this.#end === undefined;
    this.#end ??= { error: reason };
    this.#chunks = [];
    if (unfinished) this.#source.abandon(reason);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let whole = false;
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#taken(chunk.length);
          yield chunk;
        } else if (this.#end !== undefined) {
          whole = true;
          if (this.#end.error !== undefined) throw this.#end.error;
          return;
        } else {
          await this.#more();
        }
      }
    } finally {
      if (!whole) this.discard();
    }
  }

  #taken(bytes: number): void {
    this.#unread -= bytes;
    if (this.#unread <= HELD_BYTES / 2) this.#source.release();
  }

  #more(): Promise<void> {
    const { clock, host, idleTimeoutMs } = this.#source;
    return new Promise((resolve) => {
      const stop = clock.after(idleTimeoutMs, () => {
        this.discard(new TransportError('idle', host));
      });
      this.#wake = () => {
        this.#wake = undefined;
        stop();
        resolve();
      };
    });
  }
}
