import { Option } from 'commander';
import type { MediaJob } from '../../src/api/resources/media.ts';
import { mediaPace } from '../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { WaitFlags } from '../shared/flags/jobs.ts';
import { pollingAt, waitOptions } from '../shared/flags/jobs.ts';
import { refuseOtherEnding } from '../shared/flags/media.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import { waitCommand } from '../shared/jobs/fetch.ts';
import { mediaPlace, mediaPresenter, resumeMedia } from '../shared/media/format.ts';
import { resultKindOf, mediaSource } from '../../src/media/media-source.ts';
import type { WaitedJobs } from '../shared/jobs/format.ts';

interface MediaWaitFlags extends WaitFlags {
  readonly output?: string;
}

/** Defines the `wait ID…` command of `foley lipsync`, `dub`, `image` or `video`. */
export function mediaWait(kind: MediaJobKind): CommandDefinition<MediaWaitFlags, WaitedJobs> {
  return {
    configure(command) {
      const made = resultKindOf(kind);
      const file = made === 'image' ? 'cat.png' : 'clip.mp4';
      command
        .description(
          `Waits until jobs have finished; with -o also saves each ${made}. The worst outcome sets the exit code.`,
        )
        .argument('<id...>', 'job ids')
        .addHelpText('after', `\nExamples:\n  $ foley ${kind} wait … -o ${file}`);
      const output = 'save to a file, - (stdout), or a folder for several jobs';
      addOptions(command, [new Option('-o, --output <path>', output), ...waitOptions()]);
    },
    run(context, { args, options }) {
      return waitCommand(context, [...new Set(args)], {
        output: options.output,
        openPlace(output) {
          refuseOtherEnding(kind, output);
          return mediaPlace(context, kind, { output });
        },
        jobs: ({ client, target }) => ({
          words: mediaPresenter(kind, target),
          source: mediaSource(client, kind),
          polling: pollingAt<MediaJob>(context, mediaPace(options.pollInterval), options),
        }),
        resume: (ids, output) => resumeMedia(context, kind, ids, output),
      });
    },
  };
}
