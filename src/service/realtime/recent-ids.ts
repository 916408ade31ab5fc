/** Event ids that a connection has used: the latest ones, so that no connection takes ever more memory. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Notes an id; gives whether it was used before. */
  note(id: string): boolean {
    if (this.#ids.has(id)) return true;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > this.#most && oldest !== undefined) this.#ids.delete(oldest);
    return false;
  }
}
