/**
 * Calls `work` for every item and returns the results in item order. Starts no more calls after an error.
 * @param most maximum number of concurrent calls
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  async function worker(): Promise<void> {
    for (const [index, item] of waiting) results[index] = await work(item);
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

export interface OrderedWork<Result> {
  readonly count: number;
  /** Maximum number of concurrent calls. */
  readonly concurrency: number;
  /** Maximum number of started calls whose results `take` has not finished processing. */
  readonly ahead: number;
  readonly work: (index: number) => Promise<Result>;
  /**
   * Receives each result, in the order in which the calls were started. The next result follows only after the returned
   * promise resolves.
   */
  readonly take: (result: Result, index: number) => Promise<void>;
}

/**
 * Calls `work` concurrently, and passes the results to `take` in order. If a call fails, starts no more calls, but
 * passes the results of all earlier calls to `take`.
 * @throws the error of the earliest call that failed, or an error that `take` throws
 */
export async function mapOrdered<Result>(options: OrderedWork<Result>): Promise<void> {
  const { ahead, concurrency, count, take, work } = options;
  const started: Promise<Result>[] = [];
  let running = 0;
  let taken = 0;
  let isOver = false;
  const mayBegin = (): boolean =>
    !isOver && running < concurrency && started.length < Math.min(count, taken + ahead);
  const begin = (): void => {
    while (mayBegin()) {
      running += 1;
      const one = work(started.length);
      started.push(one);
      one.then(ended, failed);
    }
  };
  const ended = (): void => {
    running -= 1;
    begin();
  };
  const failed = (): void => {
    isOver = true;
  };
  try {
    for (; taken < count; taken += 1) {
      begin();
      const next = started[taken];
      // After an error no call was started; the error has been thrown already.
      if (next === undefined) break;
      await take(await next, taken);
    }
  } finally {
    isOver = true;
    await Promise.allSettled(started);
  }
}

/**
 * Returns the result of `work`. If the signal is aborted first, rejects at once with the abort reason, and `work`
 * continues in the background.
 * @param late called with the result of `work` if the result arrives after the abort
 */
export async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  late: (result: T) => void = ignore,
): Promise<T> {
  if (signal === undefined) return work;
  let listener = ignore;
  const stopped = new Promise<undefined>((resolve) => {
    listener = () => resolve(undefined);
    signal.addEventListener('abort', listener, { once: true });
    if (signal.aborted) listener();
  });
  try {
    const outcome = await Promise.race([work.then((result) => ({ result })), stopped]);
    if (outcome !== undefined) return outcome.result;
    work.then(late, ignore);
    throw signal.reason;
  } finally {
    signal.removeEventListener('abort', listener);
  }
}

/** Ends an iterator early and ignores its errors. */
export async function closeQuietly(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.().catch(ignore);
}

function ignore(): void {}
