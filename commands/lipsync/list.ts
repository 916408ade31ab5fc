import { allLipSync, listLipSync } from '../../src/api/resources/media.ts';
import type { MediaJob } from '../../src/api/resources/media.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { PageFlags } from '../../src/cli/flags/jobs.ts';
import { jobListOptions, nextPageNotice } from '../../src/cli/flags/jobs.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { describeBilling } from '../../src/cli/media/format.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { TerminalStyle } from '../../src/cli/render/style.ts';
import { relativeTime } from '../../src/cli/render/style.ts';
import type { Column } from '../../src/cli/render/table.ts';

/** `foley lipsync list` (docs/api/lip-sync.md). */
export const lipsyncList: CommandDefinition<PageFlags> = {
  configure(command) {
    command.description('Lists lip-sync jobs, newest first.').addHelpText('after', EXAMPLES);
    addOptions(command, jobListOptions());
  },
  async run(context, { options: { all, limit, page, status } }) {
    const { signal } = context;
    const { client } = await context.connect();
    if (all === true) {
      const jobs: MediaJob[] = [];
      for await (const job of allLipSync(client, { status }, signal)) jobs.push(job);
      return present(context, jobs, { items: jobs.map(({ data }) => data), total: jobs.length });
    }
    const { raw, value } = await listLipSync(client, { page, limit, status }, signal);
    return { ...(await present(context, value.items, raw)), ...nextPageNotice(value) };
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
  const { tableOrNotice } = await import('../../src/cli/render/table.ts');
  return {
    data,
    ...tableOrNotice(jobs, (style: TerminalStyle) => columns(clock.now(), style), 'No jobs.'),
  };
}

function columns(now: number, style: TerminalStyle): readonly Column<MediaJob>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'CREATED',
      value: ({ data }) => createdAt(data['created_at'], now, style),
      whole: true,
    },
    { title: 'CREDITS', value: ({ creditsUsed }) => `${creditsUsed ?? ''}` },
    {
      title: 'BILLED AS',
      value: ({ billing }) => (billing === undefined ? '' : describeBilling(billing)),
    },
  ];
}

function createdAt(value: unknown, now: number, style: TerminalStyle): string {
  return typeof value === 'string' ? relativeTime(value, now, style) : '';
}
