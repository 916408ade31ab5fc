import { Option } from 'commander';
import type { JobApi, ListedJob } from '../../src/api/resources/jobs.ts';
import { allSpeechJobs, listSpeechJobs } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { ApiFlag, PageFlags } from '../../src/cli/flags/jobs.ts';
import { apiOption, collectAll, jobListOptions, nextPageNotice } from '../../src/cli/flags/jobs.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
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
    const after = new Option('--created-after <time>', 'only jobs created later (uses v1)');
    addOptions(command.description('Lists speech jobs, newest first.'), [
      ...jobListOptions(),
      after.argParser(instant),
      apiOption(),
    ]);
  },
  async run(context, { options }) {
    const api = apiOf(options);
    const { client } = await context.connect();
    const { all, createdAfter, limit, page, status } = options;
    const filters = { createdAfter, status };
    if (all === true) {
      const found = await collectAll(allSpeechJobs(client, api, filters, context.signal));
      return present(context, found.rows, found.data);
    }
    const query = { page, limit, ...filters };
    const { raw, value } = await listSpeechJobs(client, api, query, context.signal);
    return { ...(await present(context, value.items, raw)), ...nextPageNotice(value) };
  },
};

function apiOf({ api, createdAfter }: ListFlags): JobApi {
  if (api === 'v3' && createdAfter !== undefined) {
    throw usageFailure('--created-after works with --api v1 only', 'Leave --api out.');
  }
  return api ?? (createdAfter === undefined ? 'v3' : 'v1');
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

/** Converts a time with a zone, or a date (midnight UTC), to ISO 8601 in UTC. */
function instant(given: string): string {
  const isMoment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;
  const time = isMoment.test(given) ? Date.parse(given) : NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usageFailure(
    `--created-after is "${given}"; it takes a time such as 2026-05-01 or 2026-05-01T08:30:00Z`,
  );
}
