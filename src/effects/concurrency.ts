/**
 * Does `work` for every item, at most `most` at a time, and gives the results in the order of the
 * items. The first that throws ends it: no further item is begun.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  async function takeTurns(): Promise<void> {
    for (const [index, item] of waiting) results[index] = await work(item);
  }
  const turns = Array.from({ length: Math.min(most, items.length) }, takeTurns);
  await Promise.all(turns);
  return results;
}

export interface InOrder<Result> {
  readonly count: number;
  /** How many are worked on at a time. */
  readonly concurrency: number;
  /** How many may be begun before the one that is taken next. */
  readonly ahead: number;
  readonly work: (index: number) => Promise<Result>;
  /** Given each result, one after the other, in order. */
  readonly take: (result: Result, index: number) => Promise<void>;
}

/**
 * Works on several things at a time and hands on what comes of them in order. After a failure nothing
 * more is begun; what is under way comes to its end, and what lies before the failure is handed on.
 * @throws what the first in order that failed was rejected with, or `take`
 */
export async function inOrder<Result>(options: InOrder<Result>): Promise<void> {
  const { ahead, concurrency, count, take, work } = options;
  const under: Promise<Result>[] = [];
  let running = 0;
  let taken = 0;
  let isOver = false;
  const mayBegin = (): boolean =>
    !isOver && running < concurrency && under.length < Math.min(count, taken + ahead);
  const begin = (): void => {
    while (mayBegin()) {
      running += 1;
      const one = work(under.length);
      under.push(one);
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
      const next = under[taken];
      // Nothing is begun behind a failure, which lies before it.
      if (next === undefined) break;
      await take(await next, taken);
    }
  } finally {
    isOver = true;
    await Promise.allSettled(under);
  }
}

/**
 * What `work` gives, or the reason of the signal as soon as it is aborted: for what cannot be called
 * off, such as the opening of a pipe that has no other end. The work goes on unseen then.
 * @param late told what it still gave
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

function ignore(): void {}
