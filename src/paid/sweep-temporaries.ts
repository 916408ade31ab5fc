import path from 'node:path';
import { removeQuietly, orphanedTemporaries } from '../durable/files.ts';
import type { System } from '../system/system.ts';
import { listOpenIntents } from './intents.ts';
import { listRecords } from './parts/record.ts';

/**
 * Removes the temporary files of killed commands from a folder. Keeps the files that `foley recover` needs. Never
 * throws.
 * @param state foley's state folder, whose records name the files that `foley recover` needs
 */
export async function sweepTemporaries(
  system: System,
  folder: string,
  state: string,
): Promise<void> {
  const orphaned = await orphanedTemporaries(system, folder);
  if (orphaned.length === 0) return;
  try {
    const needed = await neededTemporaries(system, state);
    for (const file of orphaned) {
      if (!needed.has(path.resolve(file))) await removeQuietly(system, file);
    }
  } catch {
    // Without the journal, all temporary files may be needed.
  }
}

async function neededTemporaries(system: System, state: string): Promise<ReadonlySet<string>> {
  const { open } = await listOpenIntents(system, path.join(state, 'journal'));
  const texts = await listRecords({ system, folder: path.join(state, 'long-texts') });
  return new Set([
    ...open.flatMap(({ about }) => about?.temporary ?? []),
    ...texts.flatMap(({ temporaries }) => temporaries),
  ]);
}
