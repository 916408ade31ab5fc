/** Does work when everything that came before is over, whatever became of that. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A queue in which one thing is done at a time. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
