import path from 'node:path';
import type { Processes } from '../effects/processes.ts';
import { removeQuietly, orphanedTemporaries } from '../durable/files.ts';
import type { FileDeps } from '../durable/files.ts';
import { listOpenIntents } from '../durable/intents.ts';
import { listRecords } from './long-text/record.ts';

export interface SweepOptions extends FileDeps {
  readonly processes: Processes;
  /** The folder of foley's state, which names the temporary files that `foley recover` needs. */
  readonly state: string;
}

/**
 * Removes the temporary files that killed commands left in a folder: captions, downloads that are free,
 * audio that was never paid for. Those of paid audio stay for `foley recover`. Never throws.
 */
export async function sweepTemporaries(folder: string, options: SweepOptions): Promise<void> {
  const orphaned = await orphanedTemporaries(folder, options);
  if (orphaned.length === 0) return;
  try {
    const needed = await neededTemporaries(options);
    for (const file of orphaned) {
      if (!needed.has(path.resolve(file))) await removeQuietly(file, options);
    }
  } catch {
    // Where the journal cannot be read nobody knows what is needed.
  }
}

/** Temporary files of operations and long texts that have not come to their end. */
async function neededTemporaries(options: SweepOptions): Promise<ReadonlySet<string>> {
  const { state } = options;
  const { open } = await listOpenIntents({ ...options, folder: path.join(state, 'journal') });
  const texts = await listRecords({ ...options, folder: path.join(state, 'long-texts') });
  return new Set([
    ...open.flatMap(({ about }) => about?.temporary ?? []),
    ...texts.flatMap(({ temporaries }) => temporaries),
  ]);
}
