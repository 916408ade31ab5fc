import { Option } from 'commander';
import type { MediaJob, MediaJobKind } from '../../src/api/media-job.ts';
import { mediaPace } from '../../src/api/media-jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Connection, Context } from '../../src/cli/context.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { makesOf, mediaSource } from '../../src/media/media-source.ts';
import { fetchMany } from '../jobs/fetch-many.ts';
import { fetchOne } from '../jobs/fetch-one.ts';
import type { WaitFlags } from '../jobs/job-flags.ts';
import { pollingAt, waitOptions } from '../jobs/job-flags.ts';
import { folderPlace } from '../jobs/places.ts';
import { resumeCommand } from '../jobs/resume-command.ts';
import { resumeLine } from './create-media.ts';
import { refuseOtherEnding } from './media-flags.ts';
import { mediaPlace } from './media-place.ts';
import { MEDIA_API, mediaWords } from './media-words.ts';

interface MediaWaitFlags extends WaitFlags {
  readonly output?: string;
}

/** `foley lipsync|dub|image|video wait ID…` (contract, sections 6 and 8). */
export function mediaWait(kind: MediaJobKind): CommandDefinition<MediaWaitFlags> {
  return {
    configure(command) {
      const made = makesOf(kind);
      command
        .description(
          `Waits until jobs have ended; with -o also saves each ${made}. The worst of them decides how it ends.`,
        )
        .argument('<id...>', 'job ids')
        .addOption(
          new Option('-o, --output <path>', `save it: a file or -, a folder for several jobs`),
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
  const placeFor =
    output === undefined ? undefined : await folderPlace(context, output, folderOf(kind));
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
    words: mediaWords(kind, target),
    source: mediaSource(client, kind),
    polling: pollingAt<MediaJob>(context, mediaPace(flags.pollInterval), flags),
    signal: context.signal,
  };
}

function folderOf(kind: MediaJobKind) {
  return {
    flag: '--output',
    why: `the ${makesOf(kind)}s of several jobs need a folder`,
    hint: 'Name a folder, or wait for one job at a time.',
  };
}
