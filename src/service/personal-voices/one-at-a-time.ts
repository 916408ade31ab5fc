/** Does work in the order in which it comes, one piece at a time. */
export interface Turns {
  /**
   * Does the work when it is its turn; nothing of it when the signal is aborted before.
   * @throws the signal's reason, and what the work throws
   */
  take<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(work, signal) {
      const done = last.then(() => {
        signal.throwIfAborted();
        return work();
      });
      last = done.catch(() => undefined);
      return done;
    },
  };
}
