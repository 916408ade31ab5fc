interface Pause {
  readonly release: (isReleased: boolean) => void;
}

/** Where answers wait at a `pause` step, and tests let them go. */
export class Gate {
  #pauses: Pause[] = [];
  #advancing: ((isReleased: boolean) => void)[] = [];
  #watching: (() => void)[] = [];
  #isLastGone = false;

  /** Waits to be let go; gives false when the client goes away first. */
  async pause(clientGone: Promise<void>): Promise<boolean> {
    this.#isLastGone = false;
    this.#watching.splice(0).forEach((tell) => tell());
    const advance = this.#advancing.shift();
    if (advance !== undefined) {
      advance(true);
      return true;
    }
    return new Promise((resolve) => {
      const pause = { release: resolve };
      this.#pauses.push(pause);
      void clientGone.then(() => this.#abandon(pause));
    });
  }

  /** Lets the oldest pause go, or the next to come; false when its client has gone away. */
  async advance(): Promise<boolean> {
    const pause = this.#pauses.shift();
    if (pause !== undefined) {
      pause.release(true);
      return true;
    }
    if (this.#isLastGone) {
      return false;
    }
    return new Promise((resolve) => {
      this.#advancing.push(resolve);
    });
  }

  /** Resolves when an answer is at a pause. */
  async paused(): Promise<void> {
    if (this.#pauses.length === 0) {
      await new Promise<void>((resolve) => {
        this.#watching.push(resolve);
      });
    }
  }

  /** A client went away in the middle of an answer: who waits for its next pause waits in vain. */
  clientGone(): void {
    this.#isLastGone = true;
    this.#advancing.splice(0).forEach((tell) => tell(false));
  }

  #abandon(pause: Pause): void {
    this.#pauses = this.#pauses.filter((other) => other !== pause);
    pause.release(false);
  }
}
