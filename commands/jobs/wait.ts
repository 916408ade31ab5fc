import { Option } from 'commander';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { ApiFlag, WaitFlags } from '../../src/cli/flags/jobs.ts';
import { apiOption, pollingOf, waitOptions } from '../../src/cli/flags/jobs.ts';
import { fetchMany, fetchOne } from '../../src/cli/jobs/fetch.ts';
import { resumeCommand, speechPresenter } from '../../src/cli/jobs/format.ts';
import { folderPlace, namedPlace } from '../../src/cli/jobs/places.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { speechSource } from '../../src/speech/jobs/speech-job.ts';

interface JobsWaitFlags extends ApiFlag, WaitFlags {
  readonly output?: string;
}

/** `foley jobs wait ID…`. */
export const jobsWait: CommandDefinition<JobsWaitFlags> = {
  configure(command) {
    command
      .description(
        'Waits until jobs have finished; with -o also saves their audio. The worst outcome sets the exit code.',
      )
      .argument('<id...>', 'job ids')
      .addOption(
        new Option(
          '-o, --output <path>',
          'save to a file, - (stdout), or a folder for several jobs',
        ),
      );
    for (const option of waitOptions()) command.addOption(option);
    command.addOption(apiOption());
  },
  async run(context, { args, options }) {
    const ids = [...new Set(args)];
    const [only = ''] = ids;
    // Several that turn out to be one still have a folder.
    return args.length === 1
      ? waitForOne(context, only, options)
      : waitForAll(context, ids, options);
  },
};

async function waitForOne(
  context: Context,
  id: string,
  flags: JobsWaitFlags,
): Promise<CommandResult> {
  const { api = 'v3', output } = flags;
  const place = output === undefined ? undefined : await namedPlace(context, output);
  try {
    const { client, target } = await context.connect();
    return await fetchOne(context, id, {
      words: speechPresenter(api, target),
      source: speechSource(client, { api }),
      polling: pollingOf(context, client, flags),
      placeFor: place?.placeFor,
      signal: context.signal,
      resume: (jobId) => resumeCommand([jobId], { api, output }, context.globals),
    });
  } finally {
    await place?.abandon();
  }
}

async function waitForAll(
  context: Context,
  ids: readonly string[],
  flags: JobsWaitFlags,
): Promise<CommandResult> {
  const { api = 'v3', output } = flags;
  const placeFor = output === undefined ? undefined : await folderPlace(context, output);
  const { client, target } = await context.connect();
  const resumeAll = (left: readonly string[]): string =>
    resumeCommand(left, { api, output }, context.globals);
  return fetchMany(context, ids, {
    words: speechPresenter(api, target),
    source: speechSource(client, { api }),
    polling: pollingOf(context, client, flags),
    placeFor,
    signal: context.signal,
    resume: (id) => resumeAll([id]),
    resumeAll,
  });
}
