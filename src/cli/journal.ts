import path from 'node:path';
import { resolveSetting } from '../config/settings.ts';
import type { IntentJournal, OpenIntent } from '../durable/intents.ts';
import { createIntentJournal, listOpenIntents } from '../durable/intents.ts';
import type { Spool } from '../durable/spool.ts';
import type { RecordOptions } from '../speech/long-text/record.ts';
import type { Context } from './command.ts';

/** The journal of operations that may cost credits, and what earlier commands left open in it. */
interface OpenedJournal {
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

/** Where long texts are kept while they are spoken. */
export async function recordOptions(context: Context): Promise<RecordOptions> {
  const { state } = await context.paths();
  return { ...context, folder: path.join(state, 'long-texts') };
}

/** How many parts are spoken at a time. */
export async function partConcurrency(context: Context): Promise<number> {
  return resolveSetting(await context.settings(), 'concurrency')?.value ?? CONCURRENCY;
}

const CONCURRENCY = 4;

/** Where a part goes that was paid for and cannot get to its place. */
export async function partSpool(context: Context): Promise<Spool> {
  const { createSpool } = await import('../durable/spool.ts');
  const { state } = await context.paths();
  return createSpool({ ...context, folder: path.join(state, 'spool') });
}
