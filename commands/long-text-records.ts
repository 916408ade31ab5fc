import path from 'node:path';
import type { Context } from '../src/cli/context.ts';
import { resolveSetting } from '../src/config/settings.ts';
import type { Spool } from '../src/files/spool.ts';
import type { RecordOptions } from '../src/speech/long-text/record.ts';

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
  const { createSpool } = await import('../src/files/spool.ts');
  const { state } = await context.paths();
  return createSpool({ ...context, folder: path.join(state, 'spool') });
}
