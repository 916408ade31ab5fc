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
