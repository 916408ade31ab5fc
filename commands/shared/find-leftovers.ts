import path from 'node:path';
import { listDamagedBatches } from '../../src/batch/journal/unfinished.ts';
import type { Context } from '../../src/cli/command.ts';
import { openJournal, openSpool, longTexts } from './journal.ts';
import type { OpenIntent } from '../../src/paid/intents.ts';
import { openIds, readIntentFiles } from '../../src/paid/intents.ts';
import { CORRUPT_EXTENSION, LOG_EXTENSION } from '../../src/durable/log.ts';
import { Failure } from '../../src/errors/failure.ts';
import { listRecords, listUnreadable } from '../../src/paid/parts/record.ts';
import type { DamagedRecord, Leftover } from '../../src/paid/recover/leftovers.ts';
import { leftovers } from '../../src/paid/recover/leftovers.ts';
import { counted } from '../../src/text/display.ts';

/**
 * Finds data that interrupted commands left: saved audio, unfinished requests and unfinished long texts. Also finds
 * damaged files.
 * @returns the findings, and an error for each folder that cannot be read
 */
export async function findLeftovers(
  context: Context,
  open: () => Promise<readonly OpenIntent[]>,
): Promise<{ readonly leftovers: readonly Leftover[]; readonly failures: readonly Failure[] }> {
  const failures: Failure[] = [];
  const orNone = async <T>(list: Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await list;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      return [];
    }
  };
  const options = await longTexts(context);
  const spool = await openSpool(context);
  const found = leftovers(
    await orNone(spool.list()),
    await orNone(open()),
    await orNone(listRecords(options)),
    await orNone(damagedIn(context)),
  );
  return { leftovers: found, failures };
}

/**
 * Returns the damaged files in foley's state folder, for `foley doctor`.
 * @throws Failure if a folder cannot be read
 */
export async function findDamaged(context: Context): Promise<readonly DamagedRecord[]> {
  const found = await findLeftovers(context, (await openJournal(context)).open);
  const [failure] = found.failures;
  if (failure !== undefined) throw failure;
  return found.leftovers.filter((leftover) => leftover.kind === 'damaged');
}

async function damagedIn(context: Context): Promise<readonly DamagedRecord[]> {
  const { state } = await context.paths();
  const texts = await listUnreadable(await longTexts(context));
  const journals = await damagedJournals(path.join(state, 'journal'), context);
  const batches = await listDamagedBatches(path.join(state, 'batches'), context.system.files);
  return [
    ...texts.map(({ bytes, folder: where, id, parts }): DamagedRecord => {
      const holds = `a long text with ${counted(parts, 'audio file')} (${counted(bytes, 'byte')})`;
      return { kind: 'damaged', id, paths: [where], holds };
    }),
    ...journals.map(({ garbled, open, operations, path: file }): DamagedRecord => {
      const id = path.basename(file).replace(/\.jsonl(?:\.corrupt)?$/, '');
      const readable = `${counted(operations, 'readable operation')}, ${open} of them open`;
      const holds = `${counted(garbled, 'damaged line')} and ${readable}`;
      return { kind: 'damaged', id, paths: [file], holds, isInUse: open > 0 };
    }),
    ...batches.map(({ mark, name, problem }): DamagedRecord => {
      return { kind: 'damaged', id: name.slice(0, 12), paths: [mark], holds: problem };
    }),
  ];
}

// Includes the files renamed to `.corrupt`. Skips the files of running processes. An incomplete last line does not count
// as damage.
async function damagedJournals(folder: string, context: Context) {
  const read = await readIntentFiles(folder, context.system, [LOG_EXTENSION, CORRUPT_EXTENSION]);
  const open = openIds(read);
  return read
    .filter(({ garbled, isTorn, writer }) => garbled > (isTorn ? 1 : 0) && writer !== 'alive')
    .map(({ garbled, path: file, steps }) => {
      const ids = [...new Set(steps.map(({ id }) => id))];
      const isLog = file.endsWith(LOG_EXTENSION);
      const stillOpen = ids.filter((id) => isLog && open.has(id));
      return { path: file, garbled, operations: ids.length, open: stillOpen.length };
    });
}
