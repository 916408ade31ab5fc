/** A queue with one reader. Who writes waits until the reader can take more. */
export class Pipe<Item, Result = void> {
  readonly #writer: WritableStreamDefaultWriter<Item>;
  readonly #result: Promise<Result>;

  /** @param read reads all items; called at once */
  constructor(read: (items: AsyncIterable<Item>) => Promise<Result>) {
    const { readable, writable } = new TransformStream<Item, Item>();
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    this.#result = read(readable);
    // Thrown by the next call of `write` or `end`.
    this.#result.catch(() => undefined);
  }

  /** Resolves when the reader can take the next item. The caller must not change the item. @throws the reader's error */
  async write(item: Item): Promise<void> {
    const written = this.#writer.write(item);
    written.catch(() => undefined);
    // A reader that failed may not have closed the queue.
    await Promise.race([written.catch(() => this.#result), this.#result]);
  }

  /** Ends the queue, and returns what the reader made of it. @throws the reader's error */
  async end(): Promise<Result> {
    const closed = this.#writer.close();
    closed.catch(() => undefined);
    return this.#result;
  }

  /** Ends a queue whose result is not needed. Does nothing after `end`. */
  stop(): void {
    this.#writer.abort().catch(() => undefined);
  }
}
