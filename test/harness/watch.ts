/** Lets tests wait for a value, which is looked for again at each change. */
export class Watch {
  #waiting: (() => boolean)[] = [];

  /** Resolves with the first value that `find` returns, now or after a change; rejects with what it throws. */
  until<Value>(find: () => Value | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const isOver = (): boolean => {
        try {
          const value = find();
          if (value !== undefined) resolve(value);
          return value !== undefined;
        } catch (error) {
          reject(error);
          return true;
        }
      };
      if (!isOver()) this.#waiting.push(isOver);
    });
  }

  /** Looks again. */
  changed(): void {
    this.#waiting = this.#waiting.filter((isOver) => !isOver());
  }
}
