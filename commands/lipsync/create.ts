import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { refuseIdleFlags } from '../../src/cli/flags/jobs.ts';
import { createMedia, describeMedia } from '../../src/cli/media/create-media.ts';
import type { MediaTask } from '../../src/cli/media/create-media.ts';
import { readInputs } from '../../src/cli/media/input-addresses.ts';
import type { MediaCreateFlags } from '../../src/cli/flags/media.ts';
import { createOptions, refuseOtherEnding } from '../../src/cli/flags/media.ts';

interface LipSyncCreateFlags extends MediaCreateFlags {
  readonly video: string;
  readonly audio: string;
  readonly extend?: true;
}

/** `foley lipsync create` (docs/api/lip-sync.md). */
export const lipsyncCreate: CommandDefinition<LipSyncCreateFlags> = {
  configure(command) {
    command
      .description(
        'Puts a sound to a video, in time with the lips, and prints the id of the job. Billed are the ' +
          'seconds of the shorter of the two.',
      )
      .addOption(
        new Option(
          '--video <url-or-file>',
          'the video: an address, or a file',
        ).makeOptionMandatory(),
      )
      .addOption(
        new Option(
          '--audio <url-or-file>',
          'the sound: an address, or a file',
        ).makeOptionMandatory(),
      )
      .addOption(
        new Option(
          '--extend',
          'repeat the video up to the end of the sound, instead of cutting it',
        ),
      );
    const options = createOptions(
      'the video',
      'sent along; no service documents that it heeds it here',
    );
    for (const option of options) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { options }) {
    refuseIdleFlags(options);
    refuseOtherEnding('lipsync', options.output);
    const { audio, extend, video } = options;
    const task: MediaTask = {
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
No service documents a key for this: without an answer it is not sent again
(exit code 26), and \`foley lipsync list\` shows what became of it.

Examples:
  $ foley lipsync create --video clip.mp4 --audio speech.wav -o synced.mp4
  $ foley lipsync create --video clip.mp4 --audio speech.wav --extend --wait`;
