interface Waiter {
  readonly check: () => boolean;
  readonly fail: (reason: string) => void;
}

/** Items in the order of their arrival. Waiting for one times out with an error that lists what arrived instead. */
export class Arrivals<Item> {
  readonly all: Item[] = [];
  readonly #timeoutMs: number;
  readonly #describe: (item: Item) => string;
  #waiters: Waiter[] = [];
  #taken = 0;
  #end: string | undefined;

  constructor(timeoutMs: number, describe: (item: Item) => string) {
    this.#timeoutMs = timeoutMs;
    this.#describe = describe;
  }

  add(item: Item): void {
    this.all.push(item);
    this.#tell();
  }

  /** Ends the arrivals. */
  end(reason: string): void {
    this.#end ??= reason;
    this.#tell();
  }

  /** Takes the next item; `undefined` after the end. */
  async take(wanted: string): Promise<Item | undefined> {
    await this.until(() => this.all.length > this.#taken || this.#end !== undefined, wanted);
    const item = this.all[this.#taken];
    this.#taken += item === undefined ? 0 : 1;
    return item;
  }

  /** Waits until a condition holds, checked at every arrival. Rejects after the timeout. */
  async until(isSo: () => boolean, wanted: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => reject(new Error(this.#complaint(wanted, reason)));
      const timer = setTimeout(
        () => this.#giveUp(waiter, `not within ${this.#timeoutMs} ms`),
        this.#timeoutMs,
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
