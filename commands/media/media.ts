import { Option } from 'commander';
import type { MediaJob } from '../../src/api/resources/media.ts';
import { mediaPace, getMediaJob } from '../../src/api/resources/media.ts';
import type { MediaJobKind, MediaModel, MediaVariant } from '../../src/api/resources/models.ts';
import type { CommandDefinition, Context, Connection } from '../../src/cli/command.ts';
import type { WaitFlags } from '../../src/cli/flags/jobs.ts';
import { pollingAt, waitOptions } from '../../src/cli/flags/jobs.ts';
import { refuseOtherEnding } from '../../src/cli/flags/media.ts';
import { fetchMany, fetchOne } from '../../src/cli/jobs/fetch.ts';
import { resumeCommand, formatCost } from '../../src/cli/jobs/format.ts';
import { folderPlace, automaticPlace } from '../../src/cli/jobs/places.ts';
import { resumeLine } from '../../src/cli/media/create-media.ts';
import {
  mediaPlace,
  MEDIA_API,
  mediaPresenter,
  describeBilling,
} from '../../src/cli/media/format.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { makesOf, mediaSource } from '../../src/media/media-source.ts';
import { listMediaModels } from '../../src/api/resources/models.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { MediaType } from '../../src/contract/media.ts';
import { renderFields } from '../../src/cli/render/table.ts';

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

interface MediaDownloadFlags {
  readonly output?: string;
}

/** `foley lipsync|dub|image|video download ID`. */
export function mediaDownload(kind: MediaJobKind): CommandDefinition<MediaDownloadFlags> {
  return {
    configure(command) {
      command
        .description(
          `Downloads the ${makesOf(kind)} of a finished job, as <id>.<ext> unless -o names a file. ` +
            'Free.',
        )
        .argument('<id>', 'job id')
        .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
        .addHelpText('after', `\nExamples:\n  $ foley ${kind} download …`);
    },
    async run(context, { args: [id = ''], options: { output } }) {
      refuseOtherEnding(kind, output);
      const place = output === undefined ? undefined : await mediaPlace(context, kind, { output });
      try {
        const { client, target } = await context.connect();
        return await fetchOne(context, id, {
          words: mediaPresenter(kind, target),
          source: mediaSource(client, kind),
          polling: undefined,
          placeFor: place?.placeFor ?? automaticPlace(context),
          signal: context.signal,
          resume: (jobId) => resumeLine(context, kind, jobId, place?.nextName()),
        });
      } finally {
        await place?.abandon();
      }
    },
  };
}

/** `foley image models` and `foley video models` (docs/api/media.md). */
export function mediaModels(mediaType: MediaType): CommandDefinition {
  return {
    configure(command) {
      command
        .description(
          `Lists the models for ${mediaType}s: variants, prices and the number of references.`,
        )
        .addHelpText('after', `\nExamples:\n  $ foley ${mediaType} models`);
    },
    async run(context) {
      const { client } = await context.connect();
      const { raw, value } = await listMediaModels(client, mediaType, context.signal);
      const { tableOrNotice } = await import('../../src/cli/render/table.ts');
      const rows = value.flatMap((model) => rowsOf(model));
      return {
        data: raw,
        ...tableOrNotice(rows, columnsOf(rows), 'No models.'),
      };
    },
  };
}

interface Row {
  readonly model: MediaModel;
  readonly variant: MediaVariant | undefined;
}

function rowsOf(model: MediaModel): readonly Row[] {
  const { variants } = model;
  return variants.length === 0
    ? [{ model, variant: undefined }]
    : variants.map((variant) => ({ model, variant }));
}

/** Those that have something in them: an image has no seconds, a video no aspect ratio. */
function columnsOf(rows: readonly Row[]): readonly Column<Row>[] {
  return COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== ''));
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'MODEL', value: ({ model }) => model.id, whole: true },
  { title: 'ASPECT RATIO', value: ({ variant }) => variant?.aspectRatio ?? '' },
  { title: 'RESOLUTION', value: ({ variant }) => variant?.resolution ?? '' },
  { title: 'SECONDS', value: ({ variant }) => `${variant?.seconds ?? ''}` },
  { title: 'SIZE', value: ({ variant }) => sizeOf(variant) },
  { title: 'CREDITS', value: ({ variant }) => `${variant?.credits ?? ''}` },
  { title: 'REFERENCES', value: ({ variant }) => `${variant?.referenceLimit ?? ''}` },
  { title: 'NOTE', value: ({ model }) => (model.available ? '' : 'not available') },
];

function sizeOf(variant: MediaVariant | undefined): string {
  const { height, size, width } = variant ?? {};
  if (size !== undefined) return size;
  return width === undefined || height === undefined ? '' : `${width}x${height}`;
}

/** `foley lipsync|dub|image|video get ID` (docs/api/lip-sync.md and docs/api/media.md). */
export function mediaGet(kind: MediaJobKind): CommandDefinition {
  return {
    configure(command) {
      command
        .description('Shows the current state of a job.')
        .argument('<id>', 'job id')
        .addHelpText('after', `\nExamples:\n  $ foley ${kind} get …`);
    },
    async run(context, { args: [id = ''] }) {
      const { client } = await context.connect();
      const job = await getMediaJob(client, kind, id, { signal: context.signal });
      return { data: job.raw, human: (style) => renderFields(fieldsOf(job), style) };
    },
  };
}

function fieldsOf(job: MediaJob): (readonly [string, string])[] {
  const { billing, creditsByPart = {}, data, error, id, progress, status } = job;
  const parts = Object.entries(creditsByPart).map(([part, credits]) => `${part} ${credits}`);
  const total = formatCost(job);
  const width = data['width'];
  const height = data['height'];
  return [
    ['id', id],
    ['status', status],
    ['progress', progress === undefined || job.phase !== 'running' ? '' : `${progress}%`],
    ['error', error?.message ?? error?.code ?? ''],
    ['model', textOf(data['model'])],
    ['size', typeof width === 'number' ? `${width} x ${textOf(height)}` : ''],
    ['seconds', textOf(data['seconds'])],
    ['credits', parts.length === 0 ? total : `${total} (${parts.join(', ')})`],
    ['billed as', billing === undefined ? '' : describeBilling(billing)],
    ['created', textOf(data['created_at'])],
    ['finished', textOf(data['finished_at'])],
    ['notices', job.notices.join('; ')],
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
}
