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
import type { Leftover, Recovered } from '../src/speech/leftovers.ts';
import type { RecoverDeps } from '../src/speech/recover-audio.ts';
import type { Recovery } from '../src/speech/recover.ts';
import { forget, recoverAll } from '../src/speech/recover.ts';
import { sweepTemporaries } from '../src/speech/sweep-temporaries.ts';
import { untilStopped } from '../src/speech/until-stopped.ts';
import { sweepRecords } from '../src/speech/long-text/record-list.ts';
import { findLeftovers, openSpool } from './find-leftovers.ts';
import { recordOptions } from './long-text-records.ts';
import { openJournal } from './open-journal.ts';
import { factsOf, leftoverColumns, listedItem, recoveredLine } from './recover-words.ts';

interface RecoverFlags {
  readonly list?: true;
  readonly forget?: string;
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
      .addOption(new Option('--list', 'show what is there and change nothing'))
      .addOption(
        new Option('--forget <id>', 'remove what is left of this one, without recovering it'),
      );
  },
  async run(context, { args: [id], options }) {
    if (options.forget !== undefined) return forgetOne(context, options.forget, options, id);
    const { journal, open } = await openJournal(context);
    const isList = options.list === true;
    // Without the journal nobody knows which command still works on what.
    const intents = isList ? open() : Promise.resolve(await open());
    const { failures: unreadable, leftovers } = await findLeftovers(context, () => intents);
    const chosen = choose(leftovers, id, unreadable);
    if (isList) return listed(chosen, unreadable, context);
    const deps = {
      ...context,
      spool: await openSpool(context),
      journal,
      recoverJob: jobRecovery(context, journal),
      recoverText: textRecovery(context, journal),
    };
    const { items, failures } = await settle(chosen, deps, context.signal);
    if (context.signal.aborted) {
      // What was settled is not told a second time.
      for (const item of items) context.io.notice(recoveredLine(item));
      context.signal.throwIfAborted();
    }
    // Whole audio that is still there, for whatever reason, is not to grow too old unseen.
    const isDamaged = items.some(({ outcome }) => outcome === 'damaged');
    const isSettled = failures.length === 0 && unreadable.length === 0 && !isDamaged;
    const mayPrune = id === undefined && isSettled;
    // What was found out is told, also when the spool cannot be tidied up.
    if (mayPrune) await deps.spool.prune().catch(() => []);
    if (id === undefined) await tellOfBatches(context);
    if (mayPrune) await sweepRecords(await recordOptions(context)).catch(() => undefined);
    await sweepFolders(leftovers, context);
    return {
      data: { items },
      human: () =>
        items.length === 0
          ? 'Nothing was left behind.'
          : items.map((item) => recoveredLine(item)).join('\n'),
      ...failureOf(unreadable),
      exit: exitOf(items, failures),
    };
  },
};

/** What kept some of it from being found is reported after the rest. */
function failureOf([failure]: readonly Failure[]): Pick<CommandResult, 'failure'> {
  return failure === undefined ? {} : { failure };
}

async function forgetOne(
  context: Context,
  wanted: string,
  { list }: RecoverFlags,
  id: string | undefined,
): Promise<CommandResult> {
  if (list === true || id !== undefined) {
    throw usageFailure('--forget cannot be used with --list or an id', 'Use --forget ID alone.');
  }
  const { journal, open } = await openJournal(context);
  const intents = await open();
  const found = await findLeftovers(context, () => Promise.resolve(intents));
  const chosen = choose(found.leftovers, wanted, found.failures);
  const deps = { ...context, journal, spool: await openSpool(context) };
  const { folder } = await recordOptions(context);
  try {
    for (const leftover of chosen) await forget(leftover, { ...deps, textFolder: folder });
  } finally {
    await journal.close();
  }
  return {
    data: { forgotten: wanted },
    human: () => `${wanted}: forgotten; nothing of it is left here`,
  };
}

/** What killed commands left beside their outputs, and in the current folder. */
async function sweepFolders(leftovers: readonly Leftover[], context: Context): Promise<void> {
  const { state } = await context.paths();
  const folders = leftovers.map((leftover) => path.dirname(factsOf(leftover).output ?? ''));
  for (const folder of new Set(['.', ...folders])) {
    await sweepTemporaries(folder, { ...context, state });
  }
}

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

function choose(
  all: readonly Leftover[],
  id: string | undefined,
  [unreadable]: readonly Failure[],
): readonly Leftover[] {
  if (id === undefined) return all;
  const chosen = all.filter((leftover) => leftover.id === id);
  if (chosen.length > 0) return chosen;
  if (unreadable !== undefined) throw unreadable;
  throw usageFailure(
    `nothing that was left behind has the id "${id}"`,
    '`foley recover --list` shows what there is.',
  );
}

async function listed(
  all: readonly Leftover[],
  unreadable: readonly Failure[],
  { clock }: Context,
): Promise<CommandResult> {
  const { table } = await import('../src/cli/table.ts');
  return {
    data: { items: all.map((leftover) => listedItem(leftover, clock)) },
    human: (look) =>
      all.length === 0 ? 'Nothing was left behind.' : table(all, leftoverColumns(clock), look),
    ...failureOf(unreadable),
    exit: all.some(({ kind }) => kind === 'damaged') ? 'state' : 'ok',
  };
}

/** The worst of what was found; a loss that was reported before counts no more. */
function exitOf(items: readonly Recovered[], failures: readonly Failure[]): ExitName {
  if (items.some(({ isReported, outcome }) => outcome === 'lost' && isReported !== true)) {
    return 'lost';
  }
  if (items.some(({ outcome }) => outcome === 'unknown')) return 'unknownOutcome';
  const [failure] = failures;
  if (failure !== undefined) return failure.exit;
  if (items.some(({ outcome }) => outcome === 'damaged')) return 'state';
  if (items.some(({ outcome }) => outcome === 'refunded')) return 'rejected';
  return items.some(({ outcome }) => outcome === 'partial') ? 'partial' : 'ok';
}
