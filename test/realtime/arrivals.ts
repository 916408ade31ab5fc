import { Watch } from '../harness/watch.ts';

/** Items in the order of their arrival. Waiting for one times out with an error that lists what arrived instead. */
export class Arrivals<Item> {
  readonly all: Item[] = [];
  readonly #timeoutMs: number;
  readonly #describe: (item: Item) => string;
  readonly #watch = new Watch();
  #taken = 0;
  #end: string | undefined;

  constructor(timeoutMs: number, describe: (item: Item) => string) {
    this.#timeoutMs = timeoutMs;
    this.#describe = describe;
  }

  add(item: Item): void {
    this.all.push(item);
    this.#watch.changed();
  }

  /** Ends the arrivals. */
  end(reason: string): void {
    this.#end ??= reason;
    this.#watch.changed();
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
    let late: string | undefined;
    const timer = setTimeout(() => {
      late = `not within ${this.#timeoutMs} ms`;
      this.#watch.changed();
    }, this.#timeoutMs);
    const check = (): true | undefined => {
      if (isSo()) return true;
      const reason = this.#end ?? late;
      if (reason !== undefined) throw new Error(this.#complaint(wanted, reason));
      return undefined;
    };
    await this.#watch.until(check).finally(() => clearTimeout(timer));
  }

  #complaint(wanted: string, reason: string): string {
    const seen = this.all.slice(-20).map((item) => this.#describe(item));
    return `Waited for ${wanted}: ${reason}. So far: ${seen.join(', ') || 'nothing'}.`;
  }
}
