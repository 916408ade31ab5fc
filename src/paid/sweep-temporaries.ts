import path from 'node:path';
import type { Processes } from '../system/processes.ts';
import { removeQuietly, orphanedTemporaries } from '../durable/files.ts';
import type { System } from '../system/system.ts';
import { listOpenIntents } from './intents.ts';
import { listRecords } from './parts/record.ts';

export interface SweepOptions extends System {
  readonly processes: Processes;
  /** foley's state folder. Its records name the temporary files that `foley recover` needs. */
  readonly state: string;
}

/**
 * Removes the temporary files of killed commands from a folder. Keeps the files that `foley recover` needs. Never
 * throws.
 */
export async function sweepTemporaries(folder: string, options: SweepOptions): Promise<void> {
  const orphaned = await orphanedTemporaries(options, folder);
  if (orphaned.length === 0) return;
  try {
    const needed = await neededTemporaries(options);
    for (const file of orphaned) {
      if (!needed.has(path.resolve(file))) await removeQuietly(options, file);
    }
  } catch {
    // Without the journal, all temporary files may be needed.
  }
}

async function neededTemporaries(options: SweepOptions): Promise<ReadonlySet<string>> {
  const { state } = options;
  const { open } = await listOpenIntents({ ...options, folder: path.join(state, 'journal') });
  const texts = await listRecords({ ...options, folder: path.join(state, 'long-texts') });
  return new Set([
    ...open.flatMap(({ about }) => about?.temporary ?? []),
    ...texts.flatMap(({ temporaries }) => temporaries),
  ]);
}
