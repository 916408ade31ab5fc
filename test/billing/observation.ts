import { systemFiles } from '../../src/system/file-system.ts';
import { readIntentFiles, mergeSteps } from '../../src/paid/intents.ts';
import type { IntentStatus } from '../../src/paid/intents.ts';
import type { SpoolEntry } from '../../src/durable/spool.ts';
import { listSpool } from '../../src/durable/spool.ts';
import { testSystem } from '../files/file-simulation.ts';
import type { LedgerFacts } from './ledger-facts.ts';
import { readLedger } from './ledger-facts.ts';
import type { Simulation } from './simulation.ts';
import { outputsOf } from './simulation.ts';

/** What is on the disks and in the books now. */
export interface Observation {
  readonly ledger: LedgerFacts;
  readonly statuses: readonly IntentStatus[];
  readonly entries: readonly SpoolEntry[];
  readonly outputs: ReadonlyMap<string, Buffer>;
}

export async function look(simulation: Simulation): Promise<Observation> {
  const ledger = readLedger(simulation.books);
  const folder = simulation.folderOf('journal');
  const observer = simulation.table.spawn();
  const system = testSystem({ processes: simulation.table.seenBy(observer) });
  const files = await readIntentFiles(folder, system);
  observer.die();
  return {
    ledger,
    statuses: mergeSteps(files.flatMap(({ steps }) => steps)),
    entries: await listSpool(simulation.folderOf('spool'), systemFiles),
    outputs: await outputsOf(simulation),
  };
}
