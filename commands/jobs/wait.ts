import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Context } from '../../src/cli/context.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { speechSource } from '../../src/jobs/speech-source.ts';
import { fetchMany } from './fetch-many.ts';
import { fetchOne } from './fetch-one.ts';
import type { ApiFlag, WaitFlags } from './job-flags.ts';
import { apiOption, pollingOf, waitOptions } from './job-flags.ts';
import { speechWords } from './job-words.ts';
import { folderPlace, namedPlace } from './places.ts';
import { resumeCommand } from './resume-command.ts';

interface JobsWaitFlags extends ApiFlag, WaitFlags {
  readonly output?: string;
}

/** `foley jobs wait ID…` (contract, section 6). */
export const jobsWait: CommandDefinition<JobsWaitFlags> = {
  configure(command) {
    command
      .description(
        'Waits until jobs have ended; with -o also saves their audio. The worst of them decides how it ends.',
      )
      .argument('<id...>', 'job ids')
      .addOption(
        new Option('-o, --output <path>', 'save the audio: a file or -, a folder for several jobs'),
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
      words: speechWords(api, target),
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
    words: speechWords(api, target),
    source: speechSource(client, { api }),
    polling: pollingOf(context, client, flags),
    placeFor,
    signal: context.signal,
    resume: (id) => resumeAll([id]),
    resumeAll,
  });
}
