import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ApiFlag, WaitFlags } from '../shared/flags/jobs.ts';
import { apiOption, pollingOf, waitOptions } from '../shared/flags/jobs.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { waitCommand } from '../shared/jobs/fetch.ts';
import type { WaitedJobs } from '../shared/jobs/format.ts';
import { resumeCommand, speechPresenter } from '../shared/jobs/format.ts';
import { namedPlace } from '../shared/jobs/places.ts';
import { speechSource } from '../../src/paid/speakers/speech-job.ts';

interface JobsWaitFlags extends ApiFlag, WaitFlags {
  readonly output?: string;
}

export const definition: CommandDefinition<JobsWaitFlags, WaitedJobs> = {
  configure(command) {
    command
      .description(
        'Waits until jobs have finished; with -o also saves their audio. The worst outcome sets the exit code.',
      )
      .argument('<id...>', 'job ids');
    const output = 'save to a file, - (stdout), or a folder for several jobs';
    addOptions(command, [new Option('-o, --output <path>', output), ...waitOptions(), apiOption()]);
  },
  run(context, { args, options }) {
    const { api = 'v3' } = options;
    return waitCommand(context, args, {
      output: options.output,
      openPlace: (output) => namedPlace(context, output),
      jobs: ({ client, target }) => ({
        words: speechPresenter(api, target),
        source: speechSource(client, { api }),
        polling: pollingOf(context, client, options),
      }),
      resume: (ids, output) => resumeCommand(ids, { api, output }, context.globals),
    });
  },
};
