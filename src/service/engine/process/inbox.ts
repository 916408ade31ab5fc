import type { ReceivedMessage } from './messages.ts';

/** Thrown by `Inbox.next` after the request was cancelled. */
export class Settled extends Error {
  override readonly name = 'Settled';
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('The request was settled.');
    this.reason = reason;
  }
}

/** A queue of an engine's messages about one request. */
export class Inbox {
  /** Resolves when the request has ended, with its last message or with an error. Never rejects. */
  readonly ended: Promise<void>;
  readonly #received: ReceivedMessage[] = [];
  #bytes = 0;
  #isDiscarding = false;
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #waiter: { resolve(next: ReceivedMessage): void; reject(error: unknown): void } | undefined;
  #onEnd: () => void = () => undefined;
  #onTaken: () => void = () => undefined;

  constructor() {
    this.ended = new Promise((resolve) => (this.#onEnd = resolve));
  }

  /** Approximate size of the unread messages in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if foley must read more of the engine's messages: a consumer waits, or a cancelled request has not ended. */
  get isWaiting(): boolean {
    return this.#waiter !== undefined || (this.#isDiscarding && !this.#hasEnded);
  }

  /** Waits for the next message and returns it. @throws Settled after `discard`; the error that was passed to `fail` */
  next(): Promise<ReceivedMessage> {
    const first = this.#received.shift();
    if (first !== undefined) {
      this.#bytes -= bytesOf(first);
      this.#onTaken();
      return Promise.resolve(first);
    }
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#waiter = { resolve, reject };
      else reject(this.#failure.error);
    });
  }

  /** Resolves when a consumer takes the next message, or when the messages are discarded. */
  taken(): Promise<void> {
    return new Promise((resolve) => (this.#onTaken = resolve));
  }

  add(message: ReceivedMessage): void {
    if (this.#isDiscarding) return;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter !== undefined) return waiter.resolve(message);
    this.#received.push(message);
    this.#bytes += bytesOf(message);
  }

  /** Adds the last message. */
  end(message: ReceivedMessage): void {
    this.add(message);
    this.#close();
  }

  /** Ends the request with an error; messages that arrived before can still be read. */
  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#failure ??= { error };
    this.#waiter?.reject(error);
    this.#waiter = undefined;
    this.#close();
  }

  /** Discards the unread messages and all later ones. @param reason stored in the Settled error that `next` throws */
  discard(reason: unknown = new Error('The request was settled.')): void {
    if (this.#isDiscarding) return;
    this.#isDiscarding = true;
    this.#received.length = 0;
    this.#bytes = 0;
    const error = new Settled(reason);
    this.#failure = { error };
    this.#waiter?.reject(error);
    this.#waiter = undefined;
    this.#onTaken();
  }

  #close(): void {
    this.#hasEnded = true;
    this.#onEnd();
  }
}

// Approximate size of a word with its times, in memory.
const WORD_BYTES = 100;

function bytesOf({ message, pcm }: ReceivedMessage): number {
  return pcm.length + (message.type === 'words' ? message.words.length * WORD_BYTES : 0);
}
