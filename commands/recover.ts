import path from 'node:path';
import { Option } from 'commander';
import { listUnfinished } from '../src/batch/journal/unfinished.ts';
import type { CommandDefinition } from '../src/cli/command.ts';
import type { Context } from '../src/cli/context.ts';
import { startProgress } from '../src/cli/progress.ts';
import type { CommandResult } from '../src/cli/result.ts';
import type { ExitName } from '../src/contract/exit-codes.ts';
import type { Failure } from '../src/errors/failure.ts';
import { usageFailure } from '../src/errors/failure.ts';
import type { IntentJournal } from '../src/files/intents.ts';
import { createSpool } from '../src/files/spool.ts';
import type { Leftover, Recovered } from '../src/speech/leftovers.ts';
import { leftovers } from '../src/speech/leftovers.ts';
import type { RecoverDeps } from '../src/speech/recover-audio.ts';
import type { Recovery } from '../src/speech/recover.ts';
import { recoverAll } from '../src/speech/recover.ts';
import { untilStopped } from '../src/speech/until-stopped.ts';
import { listRecords, sweepRecords } from '../src/speech/long-text/record-list.ts';
import { recordOptions } from './long-text-records.ts';
import { openJournal } from './open-journal.ts';
import { leftoverColumns, listedItem, recoveredLine } from './recover-words.ts';

interface RecoverFlags {
  readonly list?: true;
}

/** `foley recover` (contract, section 6): settles what interrupted commands left. */
export const recoverCommand: CommandDefinition<RecoverFlags> = {
  configure(command) {
    command
      .description(
        'Brings back audio that was paid for and did not get where it should, fetches what jobs ' +
          'made whose commands were interrupted, speaks the missing parts of a long text, and tells ' +
          'what is lost or unknown. Pays for nothing but those parts.',
      )
      .argument('[id]', 'only this one')
      .addOption(new Option('--list', 'show what is there and change nothing'));
  },
  async run(context, { args: [id], options }) {
    const state = await openState(context);
    const chosen = choose(await state.list(), id);
    if (options.list === true) return listed(chosen);
    const deps = {
      ...context,
      ...state,
      recoverJob: jobRecovery(context, state.journal),
      recoverText: textRecovery(context, state.journal),
    };
    const { items, failures } = await settle(chosen, deps, context.signal);
    if (context.signal.aborted) {
      // What was settled is not told a second time.
      for (const item of items) context.io.notice(recoveredLine(item));
      context.signal.throwIfAborted();
    }
    // Whole audio that is still there, for whatever reason, is not to grow too old unseen.
    const mayPrune = id === undefined && failures.length === 0;
    // What was found out is told, also when the spool cannot be tidied up.
    if (mayPrune) await state.spool.prune().catch(() => []);
    await tellOfBatches(context);
    if (mayPrune) await sweepRecords(await recordOptions(context)).catch(() => undefined);
    return {
      data: { items },
      human: () =>
        items.length === 0
          ? 'Nothing was left behind.'
          : items.map((item) => recoveredLine(item)).join('\n'),
      exit: exitOf(items, failures),
    };
  },
};

/** Batches keep what they know with their outputs, and go on by themselves. */
async function tellOfBatches(context: Context): Promise<void> {
  const { files, io } = context;
  const { state } = await context.paths();
  for (const folder of await listUnfinished(path.join(state, 'batches'), files)) {
    io.notice(
      `foley: a batch into ${folder} did not come to its end; run its command again to go on`,
    );
  }
}

async function settle(
  chosen: readonly Leftover[],
  deps: RecoverDeps,
  signal: AbortSignal,
): Promise<Recovery> {
  try {
    return await recoverAll(chosen, deps, signal);
  } finally {
    await deps.journal.close();
  }
}

async function openState(context: Context) {
  const { state } = await context.paths();
  const { journal, open } = await openJournal(context);
  const spool = createSpool({ ...context, folder: path.join(state, 'spool') });
  return {
    spool,
    journal,
    async list(): Promise<readonly Leftover[]> {
      const intents = await open();
      const texts = await listRecords(await recordOptions(context));
      return leftovers(await spool.list(), intents, texts);
    },
  };
}

/** The service is asked only when there is a job to be fetched. */
function jobRecovery(context: Context, journal: IntentJournal): RecoverDeps['recoverJob'] {
  return async (intent, jobId) => {
    const [{ recoverJob }, { mediaKindOf, recoverMedia }] = await Promise.all([
      import('../src/jobs/recover-job.ts'),
      import('../src/media/recover-media.ts'),
    ]);
    const progress = startProgress(context.io, context.clock, `waiting for job ${jobId}`);
    try {
      const { client } = await untilStopped(context.connect(), context.signal);
      const deps = { ...context, client, journal };
      const left = { intent, jobId };
      const kind = mediaKindOf(left);
      return await (kind === undefined ? recoverJob(left, deps) : recoverMedia(left, kind, deps));
    } finally {
      progress.stop();
    }
  };
}

function textRecovery(context: Context, journal: IntentJournal): RecoverDeps['recoverText'] {
  return async (left) => {
    const { recoverText } = await import('./recover-text.ts');
    return recoverText(left, context, journal);
  };
}

function choose(all: readonly Leftover[], id: string | undefined): readonly Leftover[] {
  if (id === undefined) return all;
  const chosen = all.filter((leftover) => leftover.id === id);
  if (chosen.length > 0) return chosen;
  throw usageFailure(
    `nothing that was left behind has the id "${id}"`,
    '`foley recover --list` shows what there is.',
  );
}

async function listed(all: readonly Leftover[]): Promise<CommandResult> {
  const { table } = await import('../src/cli/table.ts');
  return {
    data: { items: all.map((leftover) => listedItem(leftover)) },
    human: (look) =>
      all.length === 0 ? 'Nothing was left behind.' : table(all, leftoverColumns, look),
  };
}

/** The worst of what was found: something paid for is lost, nobody knows, or it is still there. */
function exitOf(items: readonly Recovered[], failures: readonly Failure[]): ExitName {
  if (items.some(({ outcome }) => outcome === 'lost')) return 'lost';
  if (items.some(({ outcome }) => outcome === 'unknown')) return 'unknownOutcome';
  const [failure] = failures;
  if (failure !== undefined) return failure.exit;
  if (items.some(({ outcome }) => outcome === 'refunded')) return 'rejected';
  return items.some(({ outcome }) => outcome === 'partial') ? 'partial' : 'ok';
}
