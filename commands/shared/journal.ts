import path from 'node:path';
import { resolveSetting } from '../../src/config/settings.ts';
import type { OpenIntent } from '../../src/paid/intents.ts';
import { IntentJournal, listOpenIntents } from '../../src/paid/intents.ts';
import type { Spool } from '../../src/durable/spool.ts';
import type { CreditRates } from '../../src/speech/credit-rates.ts';
import { createCreditRates } from '../../src/speech/credit-rates.ts';
import type { LongTexts } from '../../src/paid/parts/record.ts';
import type { Context } from '../../src/cli/command.ts';
import type { ApiClient } from '../../src/api/client.ts';
import type { ReuseStore } from '../../src/paid/reuse/reuse-store.ts';

/**
 * Opens the journal of billed requests. The caller must close it. The returned function `open` lists the unfinished
 * requests of earlier commands.
 * @throws Failure of kind `state` from `open` if the journal cannot be read
 */
export async function openJournal(context: Context): Promise<{
  readonly journal: IntentJournal;
  readonly open: () => Promise<readonly OpenIntent[]>;
}> {
  const { state } = await context.paths();
  const folder = path.join(state, 'journal');
  return {
    journal: new IntentJournal(context.system, folder),
    open: async () => (await listOpenIntents(context.system, folder)).open,
  };
}

/**
 * Opens the journal of billed requests, calls `work`, and closes the journal. `work` receives the journal and a
 * function `notice`, which stops the progress display and prints a line on stderr.
 * @param stopProgress also called when `work` ends
 */
export async function withJournal<T>(
  context: Context,
  stopProgress: () => void,
  work: (tools: { journal: IntentJournal; notice: (line: string) => void }) => Promise<T>,
): Promise<T> {
  const { journal } = await openJournal(context);
  const notice = (line: string): void => {
    stopProgress();
    context.io.notice(line);
  };
  try {
    return await work({ journal, notice });
  } finally {
    stopProgress();
    await journal.close();
  }
}

/** Opens the user's spool, where foley saves billed audio that cannot be written to the output. */
export async function openSpool(context: Context): Promise<Spool> {
  const { createSpool } = await import('../../src/durable/spool.ts');
  const { state } = await context.paths();
  return createSpool(context.system, path.join(state, 'spool'));
}

/** Returns the place in which foley saves the progress of long texts. */
export async function longTexts(context: Context): Promise<LongTexts> {
  const { state } = await context.paths();
  return { system: context.system, folder: path.join(state, 'long-texts') };
}

/** Returns how many parts of a long text foley requests at the same time. */
export async function partConcurrency(context: Context): Promise<number> {
  return resolveSetting(await context.settings(), 'concurrency')?.value ?? CONCURRENCY;
}

const CONCURRENCY = 4;

/**
 * Opens the store of bought audio. Returns undefined unless `--reuse` is given or set.
 * @param flag value of `--reuse`
 */
export async function openReuse(
  context: Context,
  { address }: ApiClient,
  flag: boolean | undefined,
): Promise<ReuseStore | undefined> {
  const settings = await context.settings();
  if (resolveSetting(settings, 'reuse', flag)?.value !== true) return undefined;
  const { ReuseStore } = await import('../../src/paid/reuse/reuse-store.ts');
  const warn = (sentence: string): void => context.io.warn(sentence);
  return new ReuseStore({ ...(await reuseFolder(context)), system: context.system, address, warn });
}

/** What `foley reuse prune` and `foley reuse clear` removed. */
export interface RemovedAudio {
  /** Number of removed files. */
  readonly removed: number;
  readonly bytes: number;
}

/** Returns the folder of the bought audio, and its maximum size in bytes. */
export async function reuseFolder(
  context: Context,
): Promise<{ readonly folder: string; readonly maxBytes: number }> {
  const { state } = await context.paths();
  const maxBytes = resolveSetting(await context.settings(), 'reuse.maxSize')?.value ?? 0;
  return { folder: path.join(state, 'reuse'), maxBytes };
}

/** Returns access to the stored costs of earlier requests, from which foley estimates prices. */
export async function creditRates(context: Context): Promise<CreditRates> {
  const { state } = await context.paths();
  return createCreditRates(path.join(state, 'credit-rates.json'), context.system);
}
