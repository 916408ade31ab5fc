import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ApiFlag } from '../../src/cli/flags/jobs.ts';
import { apiOption } from '../../src/cli/flags/jobs.ts';
import { integerWithin } from '../../src/cli/flags/values.ts';
import { fetchOne } from '../../src/cli/jobs/fetch.ts';
import { resumeCommand, speechPresenter } from '../../src/cli/jobs/format.ts';
import { automaticPlace, namedPlace } from '../../src/cli/jobs/places.ts';
import { speechSource } from '../../src/speech/jobs/speech-job.ts';

interface DownloadFlags extends ApiFlag {
  readonly output?: string;
  readonly segment?: number;
}

/** `foley jobs download ID` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const jobsDownload: CommandDefinition<DownloadFlags> = {
  configure(command) {
    command
      .description(
        'Downloads the audio of a finished job, as <id>.<ext> unless -o names a file. Free.',
      )
      .argument('<id>', 'job id')
      .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
      .addOption(
        new Option('--segment <n>', 'only this segment, from 0, as <id>-<n>.<ext>').argParser(
          integerWithin('--segment', { minimum: 0 }),
        ),
      )
      .addOption(apiOption());
  },
  async run(context, { args: [id = ''], options: { api = 'v3', output, segment } }) {
    const place = output === undefined ? undefined : await namedPlace(context, output);
    try {
      const { client, target } = await context.connect();
      return await fetchOne(context, id, {
        words: speechPresenter(api, target),
        source: speechSource(client, { api, segment }),
        polling: undefined,
        placeFor: place?.placeFor ?? automaticPlace(context, segment),
        signal: context.signal,
        resume: (jobId) => resumeCommand([jobId], { api, output, segment }, context.globals),
      });
    } finally {
      await place?.abandon();
    }
  },
};
