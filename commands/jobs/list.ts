import { Option } from 'commander';
import type { JobApi, JobSummary } from '../../src/api/resources/jobs.ts';
import { allSpeechJobs, listSpeechJobs } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { ApiFlag, PageFlags } from '../shared/flags/jobs.ts';
import { apiOption, collectAll, jobListOptions, nextPageNotice } from '../shared/flags/jobs.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { relativeTime } from '../../src/cli/render/style.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { usageFailure } from '../../src/errors/failure.ts';

interface JobsListFlags extends ApiFlag, ListFlags, PageFlags {
  readonly createdAfter?: string;
}

/** Defines the command `foley jobs list` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const definition: CommandDefinition<JobsListFlags> = {
  configure(command) {
    const after = new Option('--created-after <time>', 'only jobs created later (uses v1)');
    addOptions(command.description('Lists speech jobs, newest first.'), [
      ...jobListOptions(),
      after.argParser(instant),
      apiOption(),
      ...listOptions(COLUMNS),
    ]);
  },
  async run(context, { options }) {
    const api = apiOf(options);
    const { client } = await context.connect();
    const { all, columns, createdAfter, limit, page, status } = options;
    const filters = { createdAfter, status };
    if (all === true) {
      const found = await collectAll(allSpeechJobs(client, api, filters, context.signal));
      return present(context, found.rows, { data: found.data, columns });
    }
    const query = { page, limit, ...filters };
    const { raw, value } = await listSpeechJobs(client, api, query, context.signal);
    return {
      ...(await present(context, value.items, { data: raw, columns })),
      ...nextPageNotice(value),
    };
  },
};

function apiOf({ api, createdAfter }: JobsListFlags): JobApi {
  if (api === 'v3' && createdAfter !== undefined) {
    throw usageFailure('--created-after works with --api v1 only', 'Leave --api out.');
  }
  return api ?? (createdAfter === undefined ? 'v3' : 'v1');
}

async function present(
  { system: { clock }, io }: Context,
  jobs: readonly JobSummary[],
  { data, columns }: ListFlags & { readonly data: unknown },
): Promise<CommandResult> {
  const { listOrNotice } = await import('../../src/cli/render/table.ts');
  const names = jobs.map(({ id, textPreview }) => ({ name: id, about: textPreview }));
  const now = clock.now();
  const rows = jobs.map((job) => ({
    ...job,
    created: relativeTime(job.createdAt, now, io.out.columns),
  }));
  return {
    data,
    seen: { kind: 'job', names },
    ...listOrNotice(rows, COLUMNS, { names: columns, notice: 'No jobs.' }),
  };
}

const COLUMNS: readonly Column<JobSummary & { readonly created: string }>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'CREATED', value: ({ created }) => created, whole: true },
  { title: 'CREDITS', value: ({ creditsUsed }) => `${creditsUsed ?? ''}` },
  { title: 'VOICE', value: ({ voiceId }) => voiceId, whole: true, optional: true },
  { title: 'MODEL', value: ({ modelId }) => modelId, whole: true, optional: true },
  { title: 'TEXT', value: ({ textPreview }) => textPreview.replaceAll(/\s+/g, ' ') },
  { title: 'CHARACTERS', value: ({ characters }) => `${characters ?? ''}`, isExtra: true },
];

function instant(given: string): string {
  const isMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;
  const time = isMoment.test(given) ? Date.parse(given) : NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usageFailure(
    `--created-after is "${given}"; it takes a time such as 2026-05-01 or 2026-05-01T08:30:00Z`,
  );
}
