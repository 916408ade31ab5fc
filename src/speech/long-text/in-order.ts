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
