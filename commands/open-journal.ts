import path from 'node:path';
import type { Context } from '../src/cli/context.ts';
import type { IntentJournal, OpenIntent } from '../src/files/intents.ts';
import { createIntentJournal, listOpenIntents } from '../src/files/intents.ts';

/** The journal of operations that may cost credits, and what earlier commands left open in it. */
export interface OpenedJournal {
  readonly journal: IntentJournal;
  /** Throws a Failure (state). */
  readonly open: () => Promise<readonly OpenIntent[]>;
}

/** Opens the journal of the user; `journal.close()` ends it. */
export async function openJournal(context: Context): Promise<OpenedJournal> {
  const { state } = await context.paths();
  const { processes } = context;
  const folder = path.join(state, 'journal');
  return {
    journal: createIntentJournal({ ...context, folder, processes }),
    open: async () => (await listOpenIntents({ folder, files: context.files, processes })).open,
  };
}
