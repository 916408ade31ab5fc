import { Option } from 'commander';
import type { ApiClient } from '../../src/api/client.ts';
import type { JobApi, ListedJob } from '../../src/api/resources/jobs.ts';
import { allSpeechJobs, listSpeechJobs } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { ApiFlag, PageFlags } from '../../src/cli/flags/jobs.ts';
import { apiOption, nextPageNotice, pageOptions } from '../../src/cli/flags/jobs.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { TerminalStyle } from '../../src/cli/render/style.ts';
import { relativeTime } from '../../src/cli/render/style.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { usageFailure } from '../../src/errors/failure.ts';

interface ListFlags extends ApiFlag, PageFlags {
  readonly createdAfter?: string;
}

/** `foley jobs list` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const jobsList: CommandDefinition<ListFlags> = {
  configure(command) {
    command.description('Lists speech jobs, newest first.');
    for (const option of pageOptions()) command.addOption(option);
    command
      .addOption(
        new Option(
          '--created-after <time>',
          'only jobs created after this time (uses v1)',
        ).argParser(instant),
      )
      .addOption(apiOption());
  },
  async run(context, { options }) {
    const api = apiOf(options);
    const { client } = await context.connect();
    return options.all === true
      ? listAll(context, client, api, options)
      : listPage(context, client, api, options);
  },
};

/** Only v1 knows when a job was created. */
function apiOf({ api, createdAfter }: ListFlags): JobApi {
  if (api === 'v3' && createdAfter !== undefined) {
    throw usageFailure('--created-after works with --api v1 only', 'Leave --api out.');
  }
  return api ?? (createdAfter === undefined ? 'v3' : 'v1');
}

async function listAll(
  context: Context,
  client: ApiClient,
  api: JobApi,
  { createdAfter, status }: ListFlags,
): Promise<CommandResult> {
  const { signal } = context;
  const rows: ListedJob[] = [];
  const items: unknown[] = [];
  for await (const listed of allSpeechJobs(client, api, { createdAfter, status }, signal)) {
    rows.push(listed.item);
    items.push(listed.raw);
  }
  return present(context, rows, { items, total: items.length });
}

async function listPage(
  context: Context,
  client: ApiClient,
  api: JobApi,
  { createdAfter, limit, page, status }: ListFlags,
): Promise<CommandResult> {
  const { signal } = context;
  const query = { page, limit, status, createdAfter };
  const { raw, value } = await listSpeechJobs(client, api, query, signal);
  return { ...(await present(context, value.items, raw)), ...nextPageNotice(value) };
}

async function present(
  { clock }: Context,
  rows: readonly ListedJob[],
  data: unknown,
): Promise<CommandResult> {
  const { tableOrNotice } = await import('../../src/cli/render/table.ts');
  const names = rows.map(({ id, textPreview }) => ({ name: id, about: textPreview }));
  return {
    data,
    seen: { kind: 'job', names },
    ...tableOrNotice(rows, (style: TerminalStyle) => columns(clock.now(), style), 'No jobs.'),
  };
}

function columns(now: number, style: TerminalStyle): readonly Column<ListedJob>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'CREATED',
      value: ({ createdAt }) => relativeTime(createdAt, now, style),
      whole: true,
    },
    { title: 'CREDITS', value: ({ creditsUsed }) => `${creditsUsed ?? ''}` },
    { title: 'VOICE', value: ({ voiceId }) => voiceId, whole: true, optional: true },
    { title: 'MODEL', value: ({ modelId }) => modelId, whole: true, optional: true },
    { title: 'TEXT', value: ({ textPreview }) => textPreview.replaceAll(/\s+/g, ' ') },
  ];
}

/** A moment as the service takes it: with its time and zone; a bare date begins at midnight, UTC. */
function instant(given: string): string {
  const isMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;
  const time = isMoment.test(given) ? Date.parse(given) : NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usageFailure(
    `--created-after is "${given}"; it takes a moment such as 2026-05-01 or 2026-05-01T08:30:00Z`,
  );
}
