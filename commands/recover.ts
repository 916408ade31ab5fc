import path from 'node:path';
import { Option } from 'commander';
import type { CommandDefinition } from '../src/cli/command.ts';
import type { Context } from '../src/cli/context.ts';
import type { CommandResult } from '../src/cli/result.ts';
import type { ExitName } from '../src/contract/exit-codes.ts';
import { systemProcesses } from '../src/effects/processes.ts';
import type { Failure } from '../src/errors/failure.ts';
import { usageFailure } from '../src/errors/failure.ts';
import { createIntentJournal, listOpenIntents } from '../src/files/intents.ts';
import { createSpool } from '../src/files/spool.ts';
import type { Leftover, Recovered } from '../src/speech/leftovers.ts';
import { leftovers } from '../src/speech/leftovers.ts';
import type { RecoverDeps } from '../src/speech/recover-audio.ts';
import type { Recovery } from '../src/speech/recover.ts';
import { recoverAll } from '../src/speech/recover.ts';
import { leftoverColumns, listedItem, recoveredLine } from './recover-words.ts';

interface RecoverFlags {
  readonly list?: true;
}

/** `foley recover` (contract, section 6): settles what interrupted commands left. */
export const recoverCommand: CommandDefinition<RecoverFlags> = {
  configure(command) {
    command
      .description(
        'Brings back audio that was paid for and did not get where it should, and tells what is ' +
          'lost or unknown. Sends nothing and pays nothing.',
      )
      .argument('[id]', 'only this one')
      .addOption(new Option('--list', 'show what is there and change nothing'));
  },
  async run(context, { args: [id], options }) {
    const state = await openState(context);
    const chosen = choose(await state.list(), id);
    if (options.list === true) return listed(chosen);
    const { items, failures } = await settle(chosen, { ...context, ...state }, context.signal);
    if (context.signal.aborted) {
      // What was settled is not told a second time.
      for (const item of items) context.io.notice(recoveredLine(item));
      context.signal.throwIfAborted();
    }
    // Whole audio that is still there, for whatever reason, is not to grow too old unseen.
    const mayPrune = id === undefined && failures.length === 0;
    // What was found out is told, also when the spool cannot be tidied up.
    if (mayPrune) await state.spool.prune().catch(() => []);
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
  const processes = systemProcesses();
  const folder = path.join(state, 'journal');
  const spool = createSpool({ ...context, folder: path.join(state, 'spool') });
  return {
    spool,
    journal: createIntentJournal({ ...context, folder, processes }),
    async list(): Promise<readonly Leftover[]> {
      const { open } = await listOpenIntents({ folder, files: context.files, processes });
      return leftovers(await spool.list(), open);
    },
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
  return failures[0]?.exit ?? 'ok';
}
