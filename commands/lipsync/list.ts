import { allLipSync, listLipSync } from '../../src/api/resources/media.ts';
import type { MediaJob } from '../../src/api/resources/media.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { PageFlags } from '../shared/flags/jobs.ts';
import { jobListOptions, nextPageNotice } from '../shared/flags/jobs.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { describeBilling } from '../shared/media/format.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { relativeTime } from '../../src/cli/render/style.ts';
import type { Column } from '../../src/cli/render/table.ts';

/** Defines the command `foley lipsync list` (docs/api/lip-sync.md). */
export const definition: CommandDefinition<ListFlags & PageFlags> = {
  configure(command) {
    command.description('Lists lip-sync jobs, newest first.').addHelpText('after', EXAMPLES);
    addOptions(command, [...jobListOptions(), ...listOptions(COLUMNS)]);
  },
  async run(context, { options: { all, columns, limit, page, status } }) {
    const { signal } = context;
    const { client } = await context.connect();
    if (all === true) {
      const jobs: MediaJob[] = [];
      for await (const job of allLipSync(client, { status }, signal)) jobs.push(job);
      const data = { items: jobs.map((job) => job.data), total: jobs.length };
      return present(context, jobs, { data, columns });
    }
    const { raw, value } = await listLipSync(client, { page, limit, status }, signal);
    return {
      ...(await present(context, value.items, { data: raw, columns })),
      ...nextPageNotice(value),
    };
  },
};

const EXAMPLES = `
Examples:
  $ foley lipsync list --status completed
  $ foley lipsync list --all --json`;

async function present(
  { system: { clock }, io }: Context,
  jobs: readonly MediaJob[],
  { data, columns }: ListFlags & { readonly data: unknown },
): Promise<CommandResult> {
  const { listOrNotice } = await import('../../src/cli/render/table.ts');
  const now = clock.now();
  const rows = jobs.map((job) => {
    const at = job.data['created_at'];
    return { ...job, created: typeof at === 'string' ? relativeTime(at, now, io.out.columns) : '' };
  });
  return { data, ...listOrNotice(rows, COLUMNS, { names: columns, notice: 'No jobs.' }) };
}

const COLUMNS: readonly Column<MediaJob & { readonly created: string }>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'CREATED', value: ({ created }) => created, whole: true },
  { title: 'CREDITS', value: ({ creditsUsed }) => `${creditsUsed ?? ''}` },
  {
    title: 'BILLED AS',
    value: ({ billing }) => (billing === undefined ? '' : describeBilling(billing)),
  },
];
