import path from 'node:path';
import { expect } from 'vitest';
import { isSettled } from '../../src/paid/purchase.ts';
import { isTemporaryName } from '../../src/durable/files.ts';
import type { Book } from './book.ts';
import { followClient, followService } from './book.ts';
import { sumOfBooks } from './ledger-facts.ts';
import { keyless } from './client-run.ts';
import type { Run } from './run.ts';
import { priceOf } from './run.ts';
import type { Observation } from './observation.ts';
import { look } from './observation.ts';
import type { Simulation } from './simulation.ts';
import { isWholeAudio, OLDER } from './simulation.ts';

/** What holds after every step, whatever happened. */
export async function check(
  simulation: Simulation,
  book: Book,
  runs: readonly Run[],
): Promise<void> {
  const observation = await look(simulation);
  expect(sumOfBooks(simulation.books), 'the sum of the books').toBe(0);
  expect(observation.ledger.orphans, 'reservations that belong to nothing').toBe(0);
  expect(observation.ledger.doubles, 'charged twice').toEqual([]);
  followService(book, observation.ledger);
  followClient(book, observation.statuses);
  for (const run of runs) for (const [id, key] of run.intents) book.keyOf.set(id, key);
  // The last command could not tell the id if it was killed while it noted its request.
  for (const { id, about } of observation.statuses) {
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
    const bought = keys.filter((key) => observation.ledger.byKey.get(key)?.state === 'completed');
    expect(new Set(bought).size, `bought again: ${bought.join(', ')}`).toBeLessThan(2);
  }
  await checkFiles(observation, runs, simulation.mayHaveDebris);
  for (const { key, state, credits } of observation.ledger.byKey.values()) {
    if (state === 'completed')
      expect(isAccountedFor(key, observation, book, runs), `silent: ${key}`).toBe(true);
    if (state === 'refunded') expect(book.deliveredKeys.has(key), `given away: ${key}`).toBe(false);
    expect(credits).toBe(priceOf(key, runs));
  }
}

/** Delivered, in the spool, open for `foley recover`, reported, or running. */
function isAccountedFor(
  key: string,
  observation: Observation,
  book: Book,
  runs: readonly Run[],
): boolean {
  const isOfKey = (id: string | null | undefined): boolean => book.keyOf.get(id ?? '') === key;
  return (
    book.deliveredKeys.has(key) ||
    book.reported.has(key) ||
    observation.entries.some(({ record }) => isOfKey(record?.operation)) ||
    observation.statuses.some(({ id, state }) => isOfKey(id) && !isSettled(state)) ||
    runs.some(({ isNoted, keys }) => !isNoted && keys.includes(key))
  );
}

/** A file with its final name is complete or unchanged, and there are no other files. */
async function checkFiles(
  { outputs, statuses }: Observation,
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
