import path from 'node:path';
import { expect } from 'vitest';
import { isSettled } from '../../src/durable/intents.ts';
import { isTemporaryName } from '../../src/durable/files.ts';
import type { Book } from './book.ts';
import { followClient, followService } from './book.ts';
import { sumOfBooks } from './ledger-facts.ts';
import { keyless } from './client-run.ts';
import type { Run } from './run.ts';
import { priceOf } from './run.ts';
import type { Sight } from './sight.ts';
import { look } from './sight.ts';
import type { World } from './world.ts';
import { isWholeAudio, OLDER } from './world.ts';

/** What holds after every step, whatever happened. */
export async function check(world: World, book: Book, runs: readonly Run[]): Promise<void> {
  const sight = await look(world);
  expect(sumOfBooks(world.books), 'the sum of the books').toBe(0);
  expect(sight.ledger.orphans, 'reservations that belong to nothing').toBe(0);
  expect(sight.ledger.doubles, 'charged twice').toEqual([]);
  followService(book, sight.ledger);
  followClient(book, sight.statuses);
  for (const run of runs) for (const [id, key] of run.intents) book.keyOf.set(id, key);
  // The last command could not tell the id if it was killed while it noted its request.
  for (const { id, about } of sight.statuses) {
    if (about === undefined || book.keyOf.has(id)) continue;
    const { idempotencyKey, renews = '', requestId } = about;
    const key = idempotencyKey ?? keyless(requestId);
    book.keyOf.set(id, key);
    const run =
      runs.find(({ intents }) => intents.has(renews)) ??
      runs.findLast(({ order }) => order.key.value === (idempotencyKey ?? requestId));
    run?.intents.set(id, key);
    if (run?.keys.includes(key) === false) run.keys.push(key);
  }
  for (const { keys } of runs) {
    const bought = keys.filter((key) => sight.ledger.byKey.get(key)?.state === 'completed');
    expect(new Set(bought).size, `bought again: ${bought.join(', ')}`).toBeLessThan(2);
  }
  await checkFiles(sight, runs, world.mayHaveDebris);
  for (const { key, state, credits } of sight.ledger.byKey.values()) {
    if (state === 'completed')
      expect(isAccountedFor(key, sight, book, runs), `silent: ${key}`).toBe(true);
    if (state === 'refunded') expect(book.deliveredKeys.has(key), `given away: ${key}`).toBe(false);
    expect(credits).toBe(priceOf(key, runs));
  }
}

/** Delivered, in the spool, open for `foley recover`, reported, or running. */
function isAccountedFor(key: string, sight: Sight, book: Book, runs: readonly Run[]): boolean {
  const isOfKey = (id: string | null | undefined): boolean => book.keyOf.get(id ?? '') === key;
  return (
    book.deliveredKeys.has(key) ||
    book.reported.has(key) ||
    sight.entries.some(({ record }) => isOfKey(record?.operation)) ||
    sight.statuses.some(({ id, state }) => isOfKey(id) && !isSettled(state)) ||
    runs.some(({ isNoted, keys }) => !isNoted && keys.includes(key))
  );
}

/** A file with its final name is complete or unchanged, and there are no other files. */
async function checkFiles(
  { outputs, statuses }: Sight,
  runs: readonly Run[],
  mayHaveDebris: boolean,
): Promise<void> {
  const known = new Set(
    statuses
      .filter(({ state }) => !isSettled(state))
      .map(({ about }) => path.basename(about?.temporary ?? '')),
  );
  for (const [name, content] of outputs) {
    if (isTemporaryName(name)) {
      const isExpected =
        mayHaveDebris ||
        known.has(name) ||
        content.length === 0 ||
        runs.some(({ ending }) => ending === undefined);
      expect(isExpected, `debris of ${content.length} bytes`).toBe(true);
    } else {
      const isWhole =
        content.equals(Buffer.from(OLDER)) ||
        (await isWholeAudio(content, 0)) ||
        (await isWholeAudio(content, 1));
      expect(isWhole, `${name} is whole (${content.length} bytes)`).toBe(true);
    }
  }
}
