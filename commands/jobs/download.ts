import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ApiFlag } from '../shared/flags/jobs.ts';
import { apiOption } from '../shared/flags/jobs.ts';
import { integerOption } from '../../src/cli/flags/values.ts';
import { fetchJobCommand } from '../shared/jobs/fetch.ts';
import type { JobDocument } from '../shared/jobs/format.ts';
import { resumeCommand, speechPresenter } from '../shared/jobs/format.ts';
import { automaticPlace, namedPlace } from '../shared/jobs/places.ts';
import { speechSource } from '../../src/paid/speakers/speech-job.ts';

interface DownloadFlags extends ApiFlag {
  readonly output?: string;
  readonly segment?: number;
}

/** Defines the command `foley jobs download ID` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const definition: CommandDefinition<DownloadFlags, JobDocument> = {
  configure(command) {
    command
      .description(
        'Downloads the audio of a finished job, as <id>.<ext> unless -o names a file. Free.',
      )
      .argument('<id>', 'job id')
      .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
      .addOption(
        integerOption('--segment <n>', 'only this segment, from 0, as <id>-<n>.<ext>', {
          minimum: 0,
        }),
      )
      .addOption(apiOption());
  },
  run(context, { args: [id = ''], options: { api = 'v3', output, segment } }) {
    return fetchJobCommand(context, id, {
      output,
      openPlace: (given) => namedPlace(context, given),
      automatic: automaticPlace(context, segment),
      jobs: ({ client, target }) => ({
        words: speechPresenter(api, target),
        source: speechSource(client, { api, segment }),
        polling: undefined,
      }),
      resume: (ids) => resumeCommand(ids, { api, output, segment }, context.globals),
    });
  },
};
