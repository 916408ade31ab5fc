import type { SpeechJob } from '../../src/api/resources/jobs.ts';
import { getSpeechJob } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ApiFlag } from '../shared/flags/jobs.ts';
import { apiOption } from '../shared/flags/jobs.ts';
import { formatCost } from '../shared/jobs/format.ts';
import { renderFields } from '../../src/cli/render/table.ts';

/** Defines the command `foley jobs get ID` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const definition: CommandDefinition<ApiFlag> = {
  configure(command) {
    command
      .description('Shows the current state of a job.')
      .argument('<id>', 'job id')
      .addOption(apiOption());
  },
  async run(context, { args: [id = ''], options: { api = 'v3' } }) {
    const { client } = await context.connect();
    const job = await getSpeechJob(client, { id, api }, { signal: context.signal });
    return { data: job.raw, human: (style) => renderFields(fieldsOf(job), style) };
  },
};

function fieldsOf(job: SpeechJob): (readonly [string, string])[] {
  const { error, format = '', id, ignoredParameters = [], segments, status } = job;
  return [
    ['id', id],
    ['status', status],
    ['error', error?.message ?? error?.code ?? ''],
    ['format', format],
    ['credits', formatCost(job)],
    ['not applied', ignoredParameters.join(', ')],
    ['segments', segments.map(({ index, status: its = '?' }) => `${index} ${its}`).join(', ')],
  ];
}
