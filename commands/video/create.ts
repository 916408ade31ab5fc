import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { refuseUnusedWaitFlags } from '../shared/flags/jobs.ts';
import { addOptions, filled } from '../../src/cli/flags/values.ts';
import type { MediaCreation } from '../shared/media/create-media.ts';
import { createMedia, describeMedia } from '../shared/media/create-media.ts';
import { readInputs } from '../shared/media/input-addresses.ts';
import {
  createOptions,
  refuseOtherEnding,
  givenReferences,
  pictureOptions,
  referenceFields,
  refuseOverBudget,
} from '../shared/flags/media.ts';
import type { PictureFlags } from '../shared/flags/media.ts';
import type { JobDocument } from '../shared/jobs/format.ts';
import type { DryRunDocument } from '../../src/cli/render/result.ts';

/** Defines the command `foley video create PROMPT` (docs/api/media.md). */
export const definition: CommandDefinition<PictureFlags, JobDocument | DryRunDocument> = {
  freeText: true,
  configure(command) {
    command
      .description('Creates a video from a description, and prints the job id.')
      .argument('<prompt>', 'description of the video')
      .addHelpText('after', EXAMPLES);
    addOptions(command, [
      ...pictureOptions('video'),
      new Option('--seconds <n>', 'length of the video in seconds').argParser(seconds),
      new Option('--size <size>', 'width x height in pixels, such as 1280x720').argParser(size),
      ...createOptions('the video'),
    ]);
  },
  async run(context, { args: [given = ''], options }) {
    const prompt = filled('PROMPT')(given);
    refuseUnusedWaitFlags(options);
    refuseOtherEnding('video', options.output);
    const task: MediaCreation = {
      kind: 'video',
      inputs: await readInputs(context, givenReferences(options)),
      async order(urls, connection) {
        await refuseOverBudget(context, 'video', options, connection);
        const { model, seconds: length, size: pixels } = options;
        return { prompt, model, seconds: length, size: pixels, ...referenceFields(urls) };
      },
    };
    if (options.dryRun === true) return describeMedia(context, task, options);
    return (await createMedia(context, task, options)).result;
  },
};

const EXAMPLES = `
\`foley video models\` lists models and prices.

Examples:
  $ foley video create "Waves at night" -m vendor-video-1-flash -o waves.mp4
  $ foley video create "Waves" -m vendor-video-1-flash --size 640x360 --wait`;

function seconds(given: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : 0;
  if (value > 0) return value;
  throw usageFailure(
    `--seconds is "${given}"; it takes a number above 0`,
    '`foley video models` lists the lengths.',
  );
}

function size(given: string): string {
  if (/^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(given)) return given;
  throw usageFailure(
    `--size is "${given}"; it takes width x height in pixels, such as 1280x720`,
    '`foley video models` lists the sizes.',
  );
}
