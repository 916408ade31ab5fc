import { Option } from 'commander';
import type { MediaJobKind } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { refuseOtherEnding } from '../shared/flags/media.ts';
import { fetchJobCommand } from '../shared/jobs/fetch.ts';
import { automaticPlace } from '../shared/jobs/places.ts';
import { mediaPlace, mediaPresenter, resumeMedia } from '../shared/media/format.ts';
import { resultKindOf, mediaSource } from '../../src/media/media-source.ts';
import type { JobDocument } from '../shared/jobs/format.ts';

interface MediaDownloadFlags {
  readonly output?: string;
}

/** Defines the `download ID` command of `foley lipsync`, `dub`, `image` or `video`. */
export function mediaDownload(
  kind: MediaJobKind,
): CommandDefinition<MediaDownloadFlags, JobDocument> {
  return {
    configure(command) {
      command
        .description(
          `Downloads the ${resultKindOf(kind)} of a finished job, as <id>.<ext> unless -o names a file. ` +
            'Free.',
        )
        .argument('<id>', 'job id')
        .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
        .addHelpText('after', `\nExamples:\n  $ foley ${kind} download …`);
    },
    async run(context, { args: [id = ''], options: { output } }) {
      refuseOtherEnding(kind, output);
      return fetchJobCommand(context, id, {
        output,
        openPlace: (given) => mediaPlace(context, kind, { output: given }),
        automatic: automaticPlace(context),
        jobs: ({ client, target }) => ({
          words: mediaPresenter(kind, target),
          source: mediaSource(client, kind),
          polling: undefined,
        }),
        resume: (ids, next) => resumeMedia(context, kind, ids, next),
      });
    },
  };
}
