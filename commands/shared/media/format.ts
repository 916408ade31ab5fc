import path from 'node:path';
import type { LipSyncBilling, MediaJob } from '../../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../../src/api/resources/models.ts';
import type { Format } from '../../../src/audio/formats.ts';
import { extensionOf, formatOfPath } from '../../../src/audio/formats.ts';
import { describeDuration } from '../../../src/audio/verify.ts';
import { cutOf, describeCut } from '../../../src/media/cut.ts';
import { resultKindOf } from '../../../src/media/media-source.ts';
import { counted, display } from '../../../src/text/display.ts';
import type { Context } from '../../../src/cli/command.ts';
import type { JobPresenter, JobResult } from '../jobs/format.ts';
import { documentOf, resumeCommand } from '../jobs/format.ts';
import type { OpenPlace } from '../jobs/places.ts';
import { namedPlace } from '../jobs/places.ts';
import { startProgress } from '../../../src/cli/render/progress.ts';
import { describeCost } from '../../../src/cli/render/result.ts';

const MEDIA_API = 'v1';
const HAS_CUTS: ReadonlySet<MediaJobKind> = new Set(['lipsync', 'dub']);

/** Returns functions that format lip-sync, dubbing, image and video jobs for stdout and stderr. */
export function mediaPresenter(
  kind: MediaJobKind,
  target: 'embedded' | 'hosted',
): JobPresenter<MediaJob> {
  return {
    kind,
    target,
    api: MEDIA_API,
    document: ({ job, requestId = job.requestId, saved }) => ({
      ...documentOf({
        ...job,
        api: MEDIA_API,
        output: saved?.path,
        requestId: requestId === '' ? null : requestId,
        target,
      }),
      ...(HAS_CUTS.has(kind) ? { cut: cutOf(job) ?? null } : {}),
    }),
    partial: ({ id, status }) => display(`foley: job ${id} is only partly done (${status})`),
    saved: savedNotice,
    cut(job) {
      const cut = cutOf(job);
      return cut && describeCut(kind, cut);
    },
    state: ({ progress, status }) =>
      progress === undefined ? status : `${status}, ${Math.floor(progress)} %`,
    show({ system: { clock }, io }, label) {
      const bar = startProgress(io, clock, label, 'percent');
      return {
        ...bar,
        state: ({ id, progress, status }) => bar.update(`job ${id}: ${status}`, progress),
      };
    },
  };
}

function savedNotice({ isFree, job: created, saved }: JobResult<MediaJob>): string {
  const free = { creditsUsed: undefined, creditsByPart: undefined };
  const job = isFree === true ? { ...created, ...free } : created;
  const made = saved && describeMade(job, saved.verdict.format);
  const name = saved?.path === undefined ? made : `${saved.path}: ${made}`;
  return describeCost(name ?? `job ${job.id}`, { ...job, ignoredParameters: [] }) + partsOf(job);
}

function describeMade({ data }: MediaJob, format: Format): string {
  const result = data['result'] ?? undefined;
  const fields = typeof result === 'object' ? { ...data, ...result } : data;
  const { duration_seconds: duration, height, seconds = duration, width } = fields;
  return [
    format,
    typeof width === 'number' && typeof height === 'number' ? `${width} x ${height}` : undefined,
    typeof seconds === 'number' ? describeDuration(seconds * 1_000) : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function partsOf({ creditsByPart = {} }: MediaJob): string {
  const parts = Object.entries(creditsByPart).map(
    ([part, credits]) => `${part.replaceAll('_', ' ')} ${credits}`,
  );
  return parts.length === 0 ? '' : display(` (${parts.join(', ')})`);
}

/** Formats a notice about the billed seconds and the cost of a lip sync; undefined for other jobs. */
export function billingNotice({ billing, creditsUsed }: MediaJob): string | undefined {
  if (billing === undefined) return undefined;
  const cost = creditsUsed === undefined ? '' : `: ${counted(creditsUsed, 'credit')}`;
  return display(`foley: billed as ${describeBilling(billing)}${cost}`);
}

/** Formats the billed seconds, such as `5 s (shorter input rounded up; video 4.9 s, audio 12.0 s)`. */
export function describeBilling({
  audioSeconds,
  billedSeconds,
  rule,
  videoSeconds,
}: LipSyncBilling): string {
  const lengths = [
    videoSeconds === undefined ? undefined : `video ${videoSeconds} s`,
    audioSeconds === undefined ? undefined : `audio ${audioSeconds} s`,
  ].filter((length) => length !== undefined);
  const why = [rule?.replaceAll('_', ' '), lengths.join(', ')].filter(
    (part) => part !== undefined && part !== '',
  );
  return `${billedSeconds} s${why.length === 0 ? '' : ` (${why.join('; ')})`}`;
}

/**
 * Returns the shell command that waits for media jobs. With `output`, the command also saves their results. It contains
 * the current service flags, such as `--local`.
 */
export function resumeMedia(
  { globals }: Context,
  noun: MediaJobKind,
  ids: readonly string[],
  output: string | undefined,
): string {
  return resumeCommand(ids, { noun, api: MEDIA_API, output }, globals);
}

export interface MediaPlace extends OpenPlace {
  readonly nextName: () => string;
}

/**
 * Opens the output of a media job. The returned function `placeFor` throws if the file extension does not match the
 * format of the result. `nextName` then returns the file name with the right extension.
 * @throws Failure of kind `usage`, `output` or `exists`
 */
export async function mediaPlace(
  context: Context,
  kind: MediaJobKind,
  { clobber = true, output }: { readonly clobber?: boolean; readonly output: string },
): Promise<MediaPlace> {
  const holds = resultKindOf(kind) === 'image' ? 'an image' : 'a video';
  const existing = clobber ? 'replace' : 'refuse';
  const place = await namedPlace(context, output, { holds, existing });
  let nextName = output;
  return {
    ...place,
    nextName: () => nextName,
    async placeFor(ref, format) {
      if (output !== '-') nextName = fitting(output, format);
      return place.placeFor(ref, format);
    },
  };
}

function fitting(name: string, format: Format): string {
  const named = formatOfPath(name);
  if (named === undefined || named === format) return name;
  const { dir, name: stem } = path.parse(name);
  return path.join(dir, `${stem}.${extensionOf(format)}`);
}
