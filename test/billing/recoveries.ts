import path from 'node:path';
import { expect } from 'vitest';
import type { Recovered } from '../../src/paid/recover/recovered.ts';
import type { Book } from './book.ts';
import { tell } from './book.ts';
import type { Run } from './run.ts';
import { priceOf } from './run.ts';
import type { Observation } from './observation.ts';
import { look } from './observation.ts';
import { ALLOWANCE } from './service-host.ts';
import type { Simulation } from './simulation.ts';
import { isWholeAudio } from './simulation.ts';

/** What `foley recover` said, against what is. */
export async function noteRecovered(
  simulation: Simulation,
  book: Book,
  runs: readonly Run[],
  recovered: readonly Recovered[],
  before: Observation,
): Promise<void> {
  const now = await look(simulation);
  const operationOf = (id: string): string =>
    before.entries.find((entry) => entry.id === id)?.record?.operation ?? id;
  for (const { creditsUsed, id, idempotencyKey, outcome, output, problem } of recovered) {
    const operation = operationOf(id);
    // A command that was killed while it wrote its intent has sent nothing.
    const written = before.statuses.find((status) => status.id === operation)?.about;
    const key = idempotencyKey ?? book.keyOf.get(operation) ?? written?.idempotencyKey ?? '';
    const run =
      runs.find(({ intents }) => intents.has(operation)) ??
      runs.find(({ order }) => order.key.value === written?.idempotencyKey);
    const isRunning = run !== undefined && run.ending === undefined;
    if (isRunning || (outcome === 'running' && !simulation.isBlind)) {
      expect(outcome, `the command runs: ${isRunning}`).toBe(isRunning ? 'running' : 'not running');
    }
    if (outcome === 'refunded') {
      expect(now.ledger.byKey.get(key)?.state, 'refunded').toBe('refunded');
      continue;
    }
    if (creditsUsed !== null) expect(creditsUsed).toBe(priceOf(key, runs));
    if (outcome === 'recovered') {
      const content = now.outputs.get(path.basename(output ?? ''));
      expect(await isWholeAudio(content, run?.order.text ?? 0), 'recovered whole').toBe(true);
      expect(now.ledger.byKey.get(key)?.state, 'recovered').toBe('completed');
      book.deliveredKeys.add(key);
      book.deliveredOperations.add(operation);
    } else if (outcome === 'failed') {
      const isBusy = problem?.includes('still in progress') === true;
      const isAway = simulation.network.host() === undefined;
      const isPoor = problem?.includes('(402)') === true && creditsLeft(now) < priceOf(key, runs);
      const isExplained = simulation.full.size > 0 || isAway || isBusy || isPoor;
      expect(isExplained, 'a full disk, no service, or no credits').toBe(true);
    } else if (outcome !== 'running') {
      // Only the process that wrote a stream knows how much it delivered, and a file may be replaced by a later command.
      const mayKnow =
        run?.hadFullDisk !== true && run?.order.output.kind === 'file' && !mayBeReplaced(run, runs);
      const isFalse = mayKnow && book.deliveredOperations.has(operation);
      expect(isFalse, `${outcome}, though it was delivered`).toBe(false);
      if (run !== undefined && hasNotedCost(run)) {
        expect([outcome, creditsUsed]).toEqual(['lost', priceOf(key, runs)]);
      }
      tell(book, key, 'unknown');
    }
  }
}

function creditsLeft({ ledger }: Observation): number {
  const charges = Array.from(ledger.byKey.values()).filter(({ money }) => money !== 'refunded');
  return charges.reduce((left, { credits }) => left - credits, ALLOWANCE.credits);
}

function mayBeReplaced({ order }: Run, runs: readonly Run[]): boolean {
  return runs.findLast((run) => run.order.output === order.output)?.order !== order;
}

/** Its answer had begun, and it had time and room to write that down. */
function hasNotedCost(run: Run): boolean {
  return run.hasAudio && run.hasPaused && !run.hadFullDisk && run.order.dieAt === undefined;
}
