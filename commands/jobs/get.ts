import { getSpeechJob } from '../../src/api/speech-jobs.ts';
import type { SpeechJob } from '../../src/api/speech-jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { facts } from '../../src/cli/facts.ts';
import type { ApiFlag } from './job-flags.ts';
import { apiOption } from './job-flags.ts';

/** `foley jobs get ID` (contract, section 6; spec sections 4.1 and 4.3). */
export const jobsGet: CommandDefinition<ApiFlag> = {
  configure(command) {
    command
      .description('Shows one job as it is now.')
      .argument('<id>', 'job id')
      .addOption(apiOption());
  },
  async run(context, { args: [id = ''], options: { api = 'v3' } }) {
    const { client } = await context.connect();
    const job = await getSpeechJob(client, { id, api }, { signal: context.signal });
    return { data: job.raw, human: (look) => facts(factsOf(job), look) };
  },
};

function factsOf(job: SpeechJob): (readonly [string, string])[] {
  const { creditsUsed, error, format = '', id, ignoredParameters = [], segments, status } = job;
  return [
    ['id', id],
    ['status', status],
    ['error', error?.message ?? error?.code ?? ''],
    ['format', format],
    ['credits', creditsUsed === undefined ? '' : `${creditsUsed}`],
    ['not applied', ignoredParameters.join(', ')],
    ['segments', segments.map(({ index, status: its = '?' }) => `${index} ${its}`).join(', ')],
  ];
}
