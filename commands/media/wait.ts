import { Option } from 'commander';
import type { MediaJob } from '../../src/api/resources/media.ts';
import { mediaPace } from '../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../src/api/resources/models.ts';
import type { CommandDefinition, Connection, Context } from '../../src/cli/command.ts';
import type { WaitFlags } from '../../src/cli/flags/jobs.ts';
import { pollingAt, waitOptions } from '../../src/cli/flags/jobs.ts';
import { refuseOtherEnding } from '../../src/cli/flags/media.ts';
import { fetchMany, fetchOne } from '../../src/cli/jobs/fetch.ts';
import { resumeCommand } from '../../src/cli/jobs/format.ts';
import { folderPlace } from '../../src/cli/jobs/places.ts';
import { resumeLine } from '../../src/cli/media/create-media.ts';
import { MEDIA_API, mediaPlace, mediaPresenter } from '../../src/cli/media/format.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { makesOf, mediaSource } from '../../src/media/media-source.ts';

interface MediaWaitFlags extends WaitFlags {
  readonly output?: string;
}

/** `foley lipsync|dub|image|video wait ID…`. */
export function mediaWait(kind: MediaJobKind): CommandDefinition<MediaWaitFlags> {
  return {
    configure(command) {
      const made = makesOf(kind);
      command
        .description(
          `Waits until jobs have finished; with -o also saves each ${made}. The worst outcome sets the exit code.`,
        )
        .argument('<id...>', 'job ids')
        .addOption(
          new Option(
            '-o, --output <path>',
            'save to a file, - (stdout), or a folder for several jobs',
          ),
        );
      for (const option of waitOptions()) command.addOption(option);
      const ending = made === 'image' ? 'cat.png' : 'clip.mp4';
      command.addHelpText('after', `\nExamples:\n  $ foley ${kind} wait … -o ${ending}`);
    },
    run(context, { args, options }) {
      const ids = [...new Set(args)];
      const [only = ''] = ids;
      return ids.length === 1
        ? waitForOne(context, kind, only, options)
        : waitForAll(context, kind, ids, options);
    },
  };
}

async function waitForOne(
  context: Context,
  kind: MediaJobKind,
  id: string,
  flags: MediaWaitFlags,
): Promise<CommandResult> {
  const { output } = flags;
  refuseOtherEnding(kind, output);
  const place = output === undefined ? undefined : await mediaPlace(context, kind, { output });
  try {
    return await fetchOne(context, id, {
      ...waiting(context, kind, await context.connect(), flags),
      placeFor: place?.placeFor,
      resume: (jobId) => resumeLine(context, kind, jobId, place?.nextName()),
    });
  } finally {
    await place?.abandon();
  }
}

async function waitForAll(
  context: Context,
  kind: MediaJobKind,
  ids: readonly string[],
  flags: MediaWaitFlags,
): Promise<CommandResult> {
  const { output } = flags;
  const placeFor = output === undefined ? undefined : await folderPlace(context, output, FOLDER);
  const resumeAll = (left: readonly string[]): string =>
    resumeCommand(left, { noun: kind, api: MEDIA_API, output }, context.globals);
  return fetchMany(context, ids, {
    ...waiting(context, kind, await context.connect(), flags),
    placeFor,
    resume: (id) => resumeAll([id]),
    resumeAll,
  });
}

function waiting(
  context: Context,
  kind: MediaJobKind,
  { client, target }: Connection,
  flags: MediaWaitFlags,
) {
  return {
    words: mediaPresenter(kind, target),
    source: mediaSource(client, kind),
    polling: pollingAt<MediaJob>(context, mediaPace(flags.pollInterval), flags),
    signal: context.signal,
  };
}

const FOLDER = {
  flag: '--output',
  why: `several jobs require a folder`,
  hint: 'Name a folder, or wait for one job at a time.',
};
