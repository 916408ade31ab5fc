import path from 'node:path';
import { Option } from 'commander';
import { listUnfinished } from '../../src/batch/journal/unfinished.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { partConcurrency, longTexts, openJournal, openSpool } from '../shared/journal.ts';
import type { Progress } from '../../src/cli/render/progress.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { ExitName } from '../../src/contract/exit-codes.ts';
import { mediaSource } from '../../src/media/media-source.ts';
import type { IntentJournal } from '../../src/paid/intents.ts';
import { mayRun } from '../../src/paid/intents.ts';
import type { Clock } from '../../src/system/clock.ts';
import { abortable } from '../../src/system/concurrency.ts';
import type { Failure } from '../../src/errors/failure.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { LongTextPlan } from '../../src/paid/parts/plan.ts';
import { sweepRecords } from '../../src/paid/parts/record.ts';
import { costOf } from '../../src/paid/parts/speak-long-text.ts';
import type { Leftover } from '../../src/paid/recover/leftovers.ts';
import { forget } from '../../src/paid/recover/leftovers.ts';
import type { Recovered, RecoverDeps, TextCaptions } from '../../src/paid/recover/recovered.ts';
import { recoverAll } from '../../src/paid/recover/recover.ts';
import { sweepTemporaries } from '../../src/paid/sweep-temporaries.ts';
import { counted, display } from '../../src/text/display.ts';
import { findLeftovers } from '../shared/find-leftovers.ts';

/** What was recovered; with `--list`, what can be; with `--forget`, what was removed. */
export type RecoverDocument =
  | { readonly items: readonly Recovered[] }
  | { readonly items: readonly ListedItem[] }
  | { readonly forgotten: string };

interface RecoverFlags extends ListFlags {
  readonly list?: true;
  readonly forget?: string;
  readonly buyLost?: true;
}

export const definition: CommandDefinition<RecoverFlags, RecoverDocument> = {
  configure(command) {
    command
      .description(
        'Recovers the results of interrupted commands: saves billed audio, downloads the results of jobs, repeats ' +
          'requests without a response (under the same key, which is billed once), speaks the missing parts of ' +
          'long texts, and reports what is lost or unknown. Lost audio is bought again only with --buy-lost.',
      )
      .argument('[id]', 'recover only this item')
      .addOption(new Option('--list', 'list the items and change nothing'))
      .addOption(new Option('--forget <id>', 'remove this item without recovering it'))
      .addOption(
        new Option(
          '--buy-lost',
          'speak the lost parts of long texts again, which is billed again',
        ).conflicts(['list', 'forget']),
      );
    addOptions(command, listOptions(COLUMNS));
  },
  async run(context, { args: [id], options }) {
    refuseUnusedListFlags(options);
    if (options.forget !== undefined) return forgetOne(context, options.forget, options, id);
    const { journal, open } = await openJournal(context);
    const isList = options.list === true;
    // Recovery needs the journal, which shows the commands that are still running; `--list` works without it.
    const intents = isList ? open() : Promise.resolve(await open());
    const { failures: unreadable, leftovers } = await findLeftovers(context, () => intents);
    const chosen = choose(leftovers, id, unreadable);
    if (isList) return listed(chosen, unreadable, context, options);
    const progress = waitProgress(context);
    const deps = await recoverDeps(context, journal, options, progress.show);
    const { items, failures } = await recoverAll(chosen, deps).finally(() => {
      progress.stop();
      return journal.close();
    });
    if (context.signal.aborted) {
      // The next run does not report these results again.
      for (const item of items) context.io.notice(recoveredLine(item));
      context.signal.throwIfAborted();
    }
    // Prune only if everything was recovered: unrecovered audio must not expire unseen.
    const isDamaged = items.some(({ outcome }) => outcome === 'damaged');
    const isSettled = failures.length === 0 && unreadable.length === 0 && !isDamaged;
    const mayPrune = id === undefined && isSettled;
    // Results are reported even if pruning fails.
    if (mayPrune) await deps.spool.prune().catch(() => []);
    if (id === undefined) await reportUnfinishedBatches(context);
    if (mayPrune) await sweepRecords(await longTexts(context)).catch(() => undefined);
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

function failureOf([failure]: readonly Failure[]): CommandResult<RecoverDocument> {
  return failure === undefined ? {} : { failure };
}

function refuseUnusedListFlags({ columns, jq, list }: RecoverFlags): void {
  const flag = columns === undefined ? jq && '--jq' : '--columns';
  if (list === true || flag === undefined) return;
  throw usageFailure(`${flag} requires --list`, 'Add --list.');
}

async function forgetOne(
  context: Context,
  wanted: string,
  { list }: RecoverFlags,
  id: string | undefined,
): Promise<CommandResult<RecoverDocument>> {
  if (list === true || id !== undefined) {
    throw usageFailure('--forget cannot be used with --list or an id', 'Use --forget ID alone.');
  }
  const { journal, open } = await openJournal(context);
  const intents = await open();
  const found = await findLeftovers(context, () => Promise.resolve(intents));
  const chosen = choose(found.leftovers, wanted, found.failures);
  const spool = await openSpool(context);
  const texts = await longTexts(context);
  try {
    for (const leftover of chosen) await forget(leftover, journal, spool, texts);
  } finally {
    await journal.close();
  }
  return {
    data: { forgotten: wanted },
    human: () => `${wanted}: removed`,
  };
}

async function sweepFolders(leftovers: readonly Leftover[], context: Context): Promise<void> {
  const { state } = await context.paths();
  const folders = leftovers.map((leftover) => path.dirname(fieldsOf(leftover).output ?? ''));
  for (const folder of new Set(['.', ...folders])) {
    await sweepTemporaries(context.system, folder, state);
  }
}

async function reportUnfinishedBatches(context: Context): Promise<void> {
  const { files } = context.system;
  const { io } = context;
  const { state } = await context.paths();
  for (const folder of await listUnfinished(path.join(state, 'batches'), files)) {
    io.notice(`foley: the batch in ${folder} is unfinished; run its command again to resume it`);
  }
}

async function recoverDeps(
  context: Context,
  journal: IntentJournal,
  { buyLost }: RecoverFlags,
  onWait: RecoverDeps['onWait'],
): Promise<RecoverDeps> {
  return {
    system: context.system,
    onWait,
    signal: context.signal,
    texts: await longTexts(context),
    journal,
    spool: await openSpool(context),
    notice: (line) => context.io.notice(line),
    connect: async () => (await abortable(context.connect(), context.signal)).client,
    mediaSource,
    openCaptions: (plan) => openTextCaptions(plan, context),
    buysLost: buyLost === true,
    concurrency: () => partConcurrency(context),
    idleTimeoutMs: context.globals.idleTimeout,
  };
}

async function openTextCaptions(
  plan: LongTextPlan,
  context: Context,
): Promise<TextCaptions | undefined> {
  if (plan.captions === undefined) return undefined;
  const { openCaptions, parseCaptionsRecord, publishCaptions } =
    await import('../shared/speech/captions.ts');
  const recorded = parseCaptionsRecord(plan.captions);
  if (recorded === undefined) return undefined;
  const { edits } = recorded;
  const captions = await openCaptions(recorded, context, 'number', { text: '', edits });
  return { ...captions, publish: (audio) => publishCaptions(captions, audio, context) };
}

// Shows no progress before a recovery waits for the service.
function waitProgress({ system: { clock }, io }: Context) {
  let progress: Progress | undefined;
  return {
    show: (what: string): void => {
      progress ??= startProgress(io, clock, what);
      progress.update(what);
    },
    stop: () => progress?.stop(),
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
    `no recoverable request has the id "${id}"`,
    '`foley recover --list` lists the ids.',
  );
}

async function listed(
  all: readonly Leftover[],
  unreadable: readonly Failure[],
  { system: { clock } }: Context,
  { columns }: ListFlags,
): Promise<CommandResult<RecoverDocument>> {
  const items = all.map((leftover) => listedItem(leftover, clock));
  const { listOrNotice } = await import('../../src/cli/render/table.ts');
  return {
    data: { items },
    ...listOrNotice(items, COLUMNS, { names: columns, notice: 'Nothing was left behind.' }),
    ...failureOf(unreadable),
    exit: all.some(({ kind }) => kind === 'damaged') ? 'state' : 'ok',
  };
}

// Ignores lost results that an earlier command has reported.
function exitOf(items: readonly Recovered[], failures: readonly Failure[]): ExitName {
  if (items.some(({ isReported, outcome }) => outcome === 'lost' && isReported !== true)) {
    return 'lost';
  }
  if (items.some(({ outcome }) => outcome === 'unknown')) return 'unknownOutcome';
  const [failure] = failures;
  if (failure !== undefined) return failure.exit;
  if (items.some(({ outcome }) => outcome === 'damaged')) return 'state';
  if (items.some(({ outcome }) => outcome === 'refunded' || outcome === 'rejected'))
    return 'rejected';
  return items.some(({ outcome }) => outcome === 'partial') ? 'partial' : 'ok';
}

const COLUMNS: readonly Column<ListedItem>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'WHAT', value: ({ what }) => what },
  {
    title: 'CREDITS',
    value: ({ creditsUsed }) => `${creditsUsed ?? 'unknown'}`,
    exact: ({ creditsUsed }) => `${creditsUsed ?? ''}`,
  },
  { title: 'OUTPUT', value: ({ output }) => output ?? 'stdout' },
  { title: 'RUNNING', value: ({ running }) => (running ? 'yes' : 'no'), isExtra: true },
];

interface ListedItem {
  readonly id: string;
  readonly what: string;
  readonly running: boolean;
  readonly creditsUsed: number | null;
  readonly output: string | null;
}

function listedItem(leftover: Leftover, clock: Clock): ListedItem {
  return {
    id: leftover.id,
    what: describe(leftover, clock),
    running: isRunning(leftover, clock),
    ...fieldsOf(leftover),
  };
}

function isRunning(leftover: Leftover, clock: Clock): boolean {
  switch (leftover.kind) {
    case 'damaged':
      return false;
    case 'text': {
      const { plan, writer } = leftover.left;
      return mayRun({ at: plan.at, writer }, clock);
    }
    case 'audio':
    case 'request':
      return leftover.intent !== undefined && mayRun(leftover.intent, clock);
  }
}

/** Describes what `foley recover` did with one item, and what the user can do next. */
export function recoveredLine(one: Recovered): string {
  const cost = one.creditsUsed === null ? 'unknown cost' : counted(one.creditsUsed, 'credit');
  const again = one.jobId === null ? '; speaking it again costs again' : '';
  switch (one.outcome) {
    case 'recovered':
      return display(
        one.madeId === undefined
          ? `${one.id}: recovered as ${one.output}`
          : `${one.id}: was created as ${one.madeId}`,
      );
    case 'partial':
      return display(`${one.id}: recovered as ${one.output}, but ${one.problem}`);
    case 'refunded':
      return display(`${one.id}: ${one.problem}${one.jobId === null ? '' : '; it was refunded'}`);
    case 'rejected':
      return display(`${one.id}: not billed; ${one.problem}`);
    case 'lost':
      return display(
        one.output === null
          ? `${one.id}: lost (${cost}); ${one.problem ?? 'none of it was saved'}${again}`
          : `${one.id}: lost (${cost}); the part that arrived is in ${one.output}${again}${one.isReported === true ? `; reported before, \`foley recover --forget ${one.id}\` removes it` : ''}`,
      );
    case 'unknown':
      return display(`${one.id}: it may have been billed. ${nextStep(one)}`);
    case 'running':
      return display(`${one.id}: its command is still running`);
    case 'failed':
      return display(`${one.id}: not recovered; ${one.problem}`);
    case 'damaged':
      return display(`${one.id}: ${one.problem}; \`foley recover --forget ${one.id}\` removes it`);
  }
}

function nextStep({ idempotencyKey, isRealtime, problem }: Recovered): string {
  if (idempotencyKey === null) {
    return (
      problem ?? 'Check with `foley profile` whether credits were used before you run it again.'
    );
  }
  return isRealtime === true
    ? `\`foley live status ${idempotencyKey}\` shows its state; the same text with --request-id ${idempotencyKey} is not billed twice.`
    : `The same command with --idempotency-key ${idempotencyKey} is not billed twice.`;
}

function describe(leftover: Leftover, clock: Clock): string {
  const running = isRunning(leftover, clock) ? ', still running' : '';
  return `${kindOf(leftover, running !== '')}${running}`;
}

function kindOf(leftover: Leftover, isAlive: boolean): string {
  if (leftover.kind === 'damaged') return `unreadable: ${leftover.paths[0]} (${leftover.holds})`;
  if (leftover.kind === 'text') {
    const { plan, states } = leftover.left;
    const done = Array.from(states.values()).filter(({ state }) => state === 'verified').length;
    return `text in parts (${done} of ${plan.parts.length} are here)`;
  }
  if (leftover.kind === 'request') {
    const { jobId } = leftover.intent.facts;
    if (jobId !== undefined) return `job ${jobId}`;
    return isAlive ? 'request' : 'request without a known end';
  }
  const { record } = leftover.entry;
  return record?.complete === true ? 'whole audio' : 'part of audio';
}

export function fieldsOf(leftover: Leftover): {
  creditsUsed: number | null;
  output: string | null;
} {
  if (leftover.kind === 'damaged') return { creditsUsed: null, output: null };
  if (leftover.kind === 'audio') {
    const { record } = leftover.entry;
    return { creditsUsed: record?.creditsUsed ?? null, output: record?.output ?? null };
  }
  if (leftover.kind === 'text') {
    const { creditsUsed } = costOf(leftover.left);
    return { creditsUsed, output: leftover.left.plan.output };
  }
  const { about, facts } = leftover.intent;
  return { creditsUsed: facts.creditsUsed ?? null, output: about?.output ?? null };
}
