import path from 'node:path';
import { removeQuietly } from '../files/debris.ts';
import type { FileDeps } from '../files/file-deps.ts';
import type { IntentJournal, OpenIntent } from '../files/intents.ts';
import { isTemporaryName } from '../files/temporary.ts';
import { mayRun } from '../speech/leftovers.ts';

export interface SettleDeps extends FileDeps {
  readonly journal: IntentJournal;
}

/**
 * Notes that the audio of jobs was fetched which an interrupted command had created, so that
 * `foley recover` has nothing to do for them.
 * @throws Failure (state)
 */
export async function settleFetched(
  open: readonly OpenIntent[],
  jobIds: ReadonlySet<string>,
  deps: SettleDeps,
): Promise<void> {
  for (const intent of open) {
    const { jobId } = intent.facts;
    if (jobId === undefined || !jobIds.has(jobId) || mayRun(intent, deps.clock)) continue;
    const temporary = intent.about?.temporary ?? '';
    if (isTemporaryName(path.basename(temporary))) await removeQuietly(temporary, deps);
    await deps.journal.resume(intent).settle('published');
  }
}
