import { Option } from 'commander';
import type { LipSyncQuery } from '../../src/api/lip-sync-list.ts';
import { allLipSync, listLipSync } from '../../src/api/lip-sync-list.ts';
import type { MediaJob } from '../../src/api/media-job.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Context } from '../../src/cli/context.ts';
import type { Look } from '../../src/cli/look.ts';
import { moment } from '../../src/cli/moment.ts';
import { integerWithin } from '../../src/cli/number-flags.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import type { Column } from '../../src/cli/table.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import { describeBilling } from '../media/media-words.ts';
import { filled } from '../speech-flags.ts';

interface LipSyncListFlags extends LipSyncQuery {
  readonly all?: true;
}

/** `foley lipsync list` (contract, section 8; spec section 4.7). */
export const lipsyncList: CommandDefinition<LipSyncListFlags> = {
  configure(command) {
    command
      .description('Lists your lip-sync jobs, the newest first.')
      .addOption(
        new Option('--status <status>', 'only jobs in this state').argParser(filled('--status')),
      )
      .addOption(
        new Option('--page <n>', 'page number, from 1').argParser(
          integerWithin('--page', { minimum: 1 }),
        ),
      )
      .addOption(
        new Option(
          '--limit <n>',
          `jobs a page, at most ${PAGE_SIZE_MAX} (default: ${PAGE_SIZE_DEFAULT})`,
        ).argParser(integerWithin('--limit', { minimum: 1, maximum: PAGE_SIZE_MAX })),
      )
      .addOption(new Option('--all', 'every page').conflicts(['page', 'limit']))
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { options: { all, limit, page, status } }) {
    const { io, signal } = context;
    const { client } = await context.connect();
    if (all === true) {
      const jobs: MediaJob[] = [];
      for await (const job of allLipSync(client, { status }, signal)) jobs.push(job);
      return present(context, jobs, { items: jobs.map(({ data }) => data), total: jobs.length });
    }
    const { raw, value } = await listLipSync(client, { page, limit, status }, signal);
    if (value.nextPage !== undefined) {
      io.notice(`foley: page ${value.page}; --page ${value.nextPage} goes on, --all shows all`);
    }
    return present(context, value.items, raw);
  },
};

const EXAMPLES = `
Examples:
  $ foley lipsync list --status completed
  $ foley lipsync list --all --json`;

async function present(
  { clock }: Context,
  jobs: readonly MediaJob[],
  data: unknown,
): Promise<CommandResult> {
  const { table } = await import('../../src/cli/table.ts');
  return {
    data,
    human: (look) =>
      jobs.length === 0 ? 'There are no jobs.' : table(jobs, columns(clock.now(), look), look),
  };
}

function columns(now: number, look: Look): readonly Column<MediaJob>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'CREATED',
      value: ({ data }) => createdAt(data['created_at'], now, look),
      whole: true,
    },
    { title: 'CREDITS', value: ({ creditsUsed }) => `${creditsUsed ?? ''}` },
    {
      title: 'BILLED AS',
      value: ({ billing }) => (billing === undefined ? '' : describeBilling(billing)),
    },
  ];
}

function createdAt(value: unknown, now: number, look: Look): string {
  return typeof value === 'string' ? moment(value, now, look) : '';
}
