import { Option } from 'commander';
import type { JobApi } from '../../src/api/speech-jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { TEXT_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { requestOptions } from '../request-flags.ts';
import { addSpeechFlags } from '../speech-flags.ts';
import type { Task, TtsFlags } from '../tts-task.ts';
import { planTask } from '../tts-task.ts';
import { createJob, describeJob } from './create-job.ts';
import type { WaitFlags } from './job-flags.ts';
import { apiOption, refuseIdleFlags, waitOptions } from './job-flags.ts';

export interface CreateFlags extends TtsFlags, WaitFlags {
  readonly api?: JobApi;
  readonly wait?: true;
}

/** `foley jobs create [TEXT…]` (contract, section 6; spec sections 4.1 and 4.3). */
export const jobsCreate: CommandDefinition<CreateFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Has text from the arguments, a file or a pipe spoken in the background, and prints the id of the job.',
      )
      .argument('[text...]', 'text to speak')
      .addOption(new Option('-f, --file <path>', 'read the text from a file; - is stdin'))
      .addOption(new Option('--wait', 'wait until the job has ended'))
      .addOption(
        new Option('-o, --output <path>', 'wait, and write the audio to a file; - is stdout'),
      )
      .addOption(new Option('--no-clobber', 'do not replace an existing file (exit code 31)'));
    for (const option of waitOptions()) command.addOption(option);
    addSpeechFlags(command);
    for (const option of [apiOption(), ...requestOptions()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    refuseIdleFlags(options);
    const task = await planTask(context, { args, options: { ...options, via: 'job' } });
    refuseTooLong(task);
    return options.dryRun === true ? describeJob(task, options) : createJob(task, options);
  },
};

function refuseTooLong({ characters }: Task): void {
  if (characters <= TEXT_MAX_CHARACTERS) return;
  throw usageFailure(
    `the text has ${characters} characters; one job takes at most ${TEXT_MAX_CHARACTERS}`,
    '`foley tts` speaks it in parts, and joins them.',
  );
}

const EXAMPLES = `
Examples:
  $ foley jobs create -f chapter.txt
  $ foley jobs create -f chapter.txt -o chapter.mp3
  $ foley jobs wait "$(foley jobs create -f chapter.txt)" -o chapter.mp3`;
