import path from 'node:path';
import { expect } from 'vitest';
import type { Failure } from '../../src/errors/failure.ts';
import { isSettled } from '../../src/paid/purchase.ts';
import type { Book } from './book.ts';
import { tell } from './book.ts';
import type { Run } from './run.ts';
import { priceOf, wasPaused } from './run.ts';
import type { Observation } from './observation.ts';
import { look } from './observation.ts';
import type { Simulation } from './simulation.ts';
import { fileReference, reference } from './simulation.ts';

/**
 * What one run ended with, against what it did. `before` is how it was when it began. `others` may have written the same
 * file meanwhile: the one that is renamed last keeps the name.
 */
export async function noteEnding(
  simulation: Simulation,
  book: Book,
  run: Run,
  before: Observation,
  others: readonly Run[] = [],
): Promise<void> {
  const now = await look(simulation);
  for (const [id, key] of run.intents) book.keyOf.set(id, key);
  const { ending } = run;
  if (ending === undefined) throw new Error('the run has not ended');
  // What a killed process had open the system closes.
  if (ending.kind !== 'died') expect(run.disk.open(), 'left open').toEqual([]);
  const isWhole = await hasWhole(run, now);
  if (ending.kind === 'delivered') {
    const key = run.keys.at(-1) ?? '';
    const isReplaced = await isAnotherOf(run, others, now);
    expect(isWhole || isReplaced, 'exit 0 and not whole').toBe(true);
    expect(now.ledger.byKey.get(key)?.state, 'delivered').toBe('completed');
    expect(ending.creditsUsed).toBe(priceOf(key, [run]));
    noteDelivered(book, run);
  } else if (ending.kind === 'failed') {
    noteFailure(book, run, ending.failure, { before, now });
  } else if (isWhole && (await isNew(run, { before, now }))) {
    // Killed after it had done its work.
    noteDelivered(book, run);
  } else {
    // It had recorded the results without reporting them.
    const open = new Set(now.statuses.filter(({ state }) => !isSettled(state)).map(({ id }) => id));
    for (const [id, key] of run.intents) if (!open.has(id)) tell(book, key, 'unknown');
  }
}

/** Whether the file has the whole sound of another run that delivered to it. */
async function isAnotherOf(
  { order: { output } }: Run,
  others: readonly Run[],
  now: Observation,
): Promise<boolean> {
  if (output.kind !== 'file') return false;
  for (const other of others) {
    const to = other.order.output;
    const isDelivered = other.ending?.kind === 'delivered';
    const isSame = to.kind === 'file' && to.path === output.path;
    if (isDelivered && isSame && (await hasWhole(other, now))) return true;
  }
  return false;
}

async function hasWhole(run: Run, now: Observation): Promise<boolean> {
  const { output, text, via } = run.order;
  const isFile = via === 'sync' && output.kind === 'file';
  const wanted = await (isFile ? fileReference(text) : reference(text, via));
  return contentOf(run, now)?.equals(wanted) === true;
}

/** Whether it was delivered now: an earlier run may have made the same file. */
async function isNew(
  run: Run,
  { before, now }: { before: Observation; now: Observation },
): Promise<boolean> {
  const isCharged = now.ledger.byKey.get(run.keys.at(-1) ?? '')?.state === 'completed';
  return isCharged && (run.order.output.kind === 'stream' || !(await hasWhole(run, before)));
}

function noteDelivered(book: Book, { intents, keys }: Run): void {
  const last = keys.at(-1) ?? '';
  book.deliveredKeys.add(last);
  for (const [id, key] of intents) if (key === last) book.deliveredOperations.add(id);
}

function noteFailure(
  book: Book,
  run: Run,
  failure: Failure,
  { before, now }: { readonly before: Observation; readonly now: Observation },
): void {
  const { keys, order } = run;
  const why = `${failure.exit} (${failure.code}, billed ${failure.billed}): ${failure.message}`;
  expect(failure.exit, why).not.toBe('internal');
  // One that got its name, which may not have reached the disk, is found by `foley recover`.
  const mayHaveName = now.statuses.some(({ id, state }) => {
    return run.intents.has(id) && state === 'verified';
  });
  if (order.output.kind === 'file' && !wasPaused(run) && !mayHaveName) {
    expect(contentOf(run, now), `${why}, and the output changed`).toEqual(contentOf(run, before));
  }
  const wasCharged = (key: string): boolean =>
    now.ledger.byKey.get(key)?.state === 'completed' &&
    before.ledger.byKey.get(key)?.state !== 'completed' &&
    // Jobs that were accepted earlier continue.
    before.ledger.byKey.get(key)?.isJob !== true;
  const last = keys.at(-1);
  if (failure.billed === 'no')
    expect(
      keys.filter((key) => wasCharged(key)),
      why,
    ).toEqual([]);
  if (last === undefined) return;
  // A service that breaks off its own answer gives back what it had charged.
  const state = now.ledger.byKey.get(last)?.state;
  // A job is charged when it is done, even without a waiting client.
  const isJob = order.via === 'job' && state !== undefined;
  const wasAnswered = run.hasAudio || state === 'completed' || isJob;
  if (failure.billed === 'yes') expect(wasAnswered, why).toBe(true);
  tell(book, last, failure.billed);
}

function contentOf({ order, heard }: Run, { outputs }: Observation): Buffer | undefined {
  return order.output.kind === 'file'
    ? outputs.get(path.basename(order.output.path))
    : Buffer.concat(heard);
}
