import type { LipSyncBilling, MediaJob, MediaJobKind } from '../../src/api/media-job.ts';
import { describeDuration } from '../../src/audio/describe.ts';
import type { Format } from '../../src/audio/formats.ts';
import { startPercentBar } from '../../src/cli/percent-bar.ts';
import { counted } from '../../src/text/counted.ts';
import { display } from '../../src/text/display.ts';
import type { JobWords, ToldJob } from '../jobs/told-job.ts';
import { withCost } from '../tts-words.ts';

/** The interface that has lip sync, dubbing, images and videos (spec sections 4.7 and 4.8). */
export const MEDIA_API = 'v1';

/** How jobs of lip sync, dubbing, images and videos are told. */
export function mediaWords(kind: MediaJobKind, target: 'embedded' | 'hosted'): JobWords<MediaJob> {
  return {
    kind,
    target,
    api: MEDIA_API,
    document: (told) => mediaDocument(told, target),
    partial: ({ id, status }) => display(`foley: only a part of job ${id} was made (${status})`),
    saved: savedNotice,
    show({ clock, io }, label) {
      const bar = startPercentBar(io, clock, label);
      let done = 0;
      return {
        stop: () => bar.stop(),
        update: (next) => bar.update(done, next),
        state({ id, progress = done, status }) {
          done = progress;
          bar.update(done, `job ${id}: ${status}`);
        },
      };
    },
  };
}

/** The document of creates and waits with `--json` (contract, section 3). */
function mediaDocument(
  { job, requestId = job.requestId, saved }: ToldJob<MediaJob>,
  target: 'embedded' | 'hosted',
): Record<string, unknown> {
  return {
    id: job.id,
    kind: job.kind,
    api: MEDIA_API,
    status: job.status,
    output: saved?.path ?? null,
    requestId: requestId === '' ? null : requestId,
    creditsUsed: job.creditsUsed ?? null,
    quotaRemaining: job.quotaRemaining ?? null,
    ignoredParameters: null,
    target,
    raw: job.raw ?? null,
  };
}

/** What was saved and what it cost, on a line for stderr. */
function savedNotice({ isFree, job: told, saved }: ToldJob<MediaJob>): string {
  const free = { creditsUsed: undefined, creditsByPart: undefined };
  const job = isFree === true ? { ...told, ...free } : told;
  const cost = { ...job, ignoredParameters: [] };
  if (saved === undefined) return withCost(`job ${job.id}`, cost) + partsOf(job);
  const made = describeMade(job, saved.verdict.format);
  return withCost(saved.path === undefined ? made : `${saved.path}: ${made}`, cost) + partsOf(job);
}

function describeMade({ data }: MediaJob, format: Format): string {
  const result = data['result'] ?? undefined;
  const facts = typeof result === 'object' ? { ...data, ...result } : data;
  const { duration_seconds: duration, height, seconds = duration, width } = facts;
  return [
    format,
    typeof width === 'number' && typeof height === 'number' ? `${width} x ${height}` : undefined,
    typeof seconds === 'number' ? describeDuration(seconds * 1_000) : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

/** What each part of a dubbing cost. */
function partsOf({ creditsByPart = {} }: MediaJob): string {
  const parts = Object.entries(creditsByPart).map(
    ([part, credits]) => `${part.replaceAll('_', ' ')} ${credits}`,
  );
  return parts.length === 0 ? '' : display(` (${parts.join(', ')})`);
}

/** What a lip sync is billed by, on a line for stderr (spec section 2.6). */
export function billingNotice({ billing, creditsUsed }: MediaJob): string | undefined {
  if (billing === undefined) return undefined;
  const cost = creditsUsed === undefined ? '' : `: ${counted(creditsUsed, 'credit')}`;
  return display(`foley: billed as ${describeBilling(billing)}${cost}`);
}

/** Such as `5 s (shorter input rounded up; video 4.9 s, audio 12.0 s)`. */
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
