import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { refuseUnusedWaitFlags } from '../shared/flags/jobs.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { createMedia, describeMedia } from '../shared/media/create-media.ts';
import type { MediaCreation } from '../shared/media/create-media.ts';
import { readInputs } from '../shared/media/input-addresses.ts';
import type { MediaCreateFlags } from '../shared/flags/media.ts';
import { createOptions, refuseOtherEnding } from '../shared/flags/media.ts';
import type { JobDocument } from '../shared/jobs/format.ts';
import type { DryRunDocument } from '../../src/cli/render/result.ts';

interface LipSyncCreateFlags extends MediaCreateFlags {
  readonly video: string;
  readonly audio: string;
  readonly extend?: true;
}

/** Defines the command `foley lipsync create` (docs/api/lip-sync.md). */
export const definition: CommandDefinition<LipSyncCreateFlags, JobDocument | DryRunDocument> = {
  configure(command) {
    command
      .description(
        'Syncs the lips of a video to audio, and prints the job id. Billed by the seconds of the shorter ' +
          'input.',
      )
      .addHelpText('after', EXAMPLES);
    addOptions(command, [
      new Option(
        '--video <url-or-file>',
        'video to use: a URL or a file (required)',
      ).makeOptionMandatory(),
      new Option(
        '--audio <url-or-file>',
        'audio to use: a URL or a file (required)',
      ).makeOptionMandatory(),
      new Option('--extend', 'repeat the video until the audio ends, instead of cutting the audio'),
      ...createOptions('the video', 'sent with the request, but no service documents its effect'),
    ]);
  },
  async run(context, { options }) {
    refuseUnusedWaitFlags(options);
    refuseOtherEnding('lipsync', options.output);
    const { audio, extend, video } = options;
    const task: MediaCreation = {
      kind: 'lipsync',
      inputs: await readInputs(context, [
        [video, '--video'],
        [audio, '--audio'],
      ]),
      order: ([video_url, audio_url]) =>
        Promise.resolve({ video_url, audio_url, video_extension: extend }),
    };
    if (options.dryRun === true) return describeMedia(context, task, options);
    return (await createMedia(context, task, options)).result;
  },
};

const EXAMPLES = `
No service documents a key for lip sync: a request without a response is not
retried (exit code 26). \`foley lipsync list\` shows whether the job exists.

Examples:
  $ foley lipsync create --video clip.mp4 --audio speech.wav -o synced.mp4
  $ foley lipsync create --video clip.mp4 --audio speech.wav --extend --wait`;
