/**
 * What `work` gives, or the reason of the signal as soon as it is aborted: for what cannot be called
 * off, such as the opening of a pipe that has no other end. The work goes on unseen then.
 * @param late told what it still gave
 */
export async function untilStopped<T>(
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
