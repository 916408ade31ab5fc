import { systemFiles } from '../../src/effects/file-system.ts';
import { readIntentFiles, mergeSteps } from '../../src/durable/intents.ts';
import type { IntentStatus } from '../../src/durable/intents.ts';
import type { SpoolEntry } from '../../src/durable/spool.ts';
import { listSpool } from '../../src/durable/spool.ts';
import type { LedgerFacts } from './ledger-facts.ts';
import { readLedger } from './ledger-facts.ts';
import type { World } from './world.ts';
import { outputsOf } from './world.ts';

/** What is on the disks and in the books now. */
export interface Sight {
  readonly ledger: LedgerFacts;
  readonly statuses: readonly IntentStatus[];
  readonly entries: readonly SpoolEntry[];
  readonly outputs: ReadonlyMap<string, Buffer>;
}

export async function look(world: World): Promise<Sight> {
  const ledger = readLedger(world.books);
  const folder = world.folderOf('journal');
  const observer = world.table.spawn();
  const files = await readIntentFiles(folder, {
    files: systemFiles,
    processes: world.table.seenBy(observer),
  });
  observer.die();
  return {
    ledger,
    statuses: mergeSteps(files.flatMap(({ steps }) => steps)),
    entries: await listSpool(world.folderOf('spool'), systemFiles),
    outputs: await outputsOf(world),
  };
}
