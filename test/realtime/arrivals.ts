interface Waiter {
  readonly check: () => boolean;
  readonly fail: (reason: string) => void;
}

/**
 * Things in the order in which they arrive, which can be waited for. Nothing waits for longer than
 * its patience: what did not come in that time is an error that says what came instead.
 */
export class Arrivals<Item> {
  readonly all: Item[] = [];
  readonly #patienceMs: number;
  readonly #describe: (item: Item) => string;
  #waiters: Waiter[] = [];
  #taken = 0;
  #end: string | undefined;

  constructor(patienceMs: number, describe: (item: Item) => string) {
    this.#patienceMs = patienceMs;
    this.#describe = describe;
  }

  add(item: Item): void {
    this.all.push(item);
    this.#tell();
  }

  /** Nothing comes any more. */
  end(reason: string): void {
    this.#end ??= reason;
    this.#tell();
  }

  /** The next item that nobody has taken yet; `undefined` when there is none and will be none. */
  async take(wanted: string): Promise<Item | undefined> {
    await this.until(() => this.all.length > this.#taken || this.#end !== undefined, wanted);
    const item = this.all[this.#taken];
    this.#taken += item === undefined ? 0 : 1;
    return item;
  }

  /** Waits until something is so; it is asked again at every arrival. Rejects after the patience. */
  async until(isSo: () => boolean, wanted: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => reject(new Error(this.#complaint(wanted, reason)));
      const timer = setTimeout(
        () => this.#giveUp(waiter, `not within ${this.#patienceMs} ms`),
        this.#patienceMs,
      );
      const check = (): boolean => {
        const isDone = isSo();
        if (isDone) {
          clearTimeout(timer);
          resolve();
        }
        return isDone;
      };
      const waiter: Waiter = {
        check,
        fail: (reason) => {
          clearTimeout(timer);
          fail(reason);
        },
      };
      this.#waiters.push(waiter);
      this.#tell();
    });
  }

  #tell(): void {
    this.#waiters = this.#waiters.filter((waiter) => !waiter.check());
    if (this.#end !== undefined) {
      for (const waiter of this.#waiters.splice(0)) {
        waiter.fail(this.#end);
      }
    }
  }

  #giveUp(waiter: Waiter, reason: string): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    waiter.fail(reason);
  }

  #complaint(wanted: string, reason: string): string {
    const seen = this.all.slice(-20).map((item) => this.#describe(item));
    return `Waited for ${wanted}: ${reason}. So far: ${seen.join(', ') || 'nothing'}.`;
  }
}
