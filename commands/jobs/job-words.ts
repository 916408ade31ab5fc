import { withCost } from '../tts-words.ts';
import type { JobApi, SpeechJob } from '../../src/api/speech-jobs.ts';
import { describeSound } from '../../src/audio/describe.ts';
import { startProgress } from '../../src/cli/progress.ts';
import { display } from '../../src/text/display.ts';
import type { JobWords, ToldJob } from './told-job.ts';

/** How speech jobs are told. */
export function speechWords(api: JobApi, target: 'embedded' | 'hosted'): JobWords<SpeechJob> {
  return {
    api,
    target,
    kind: 'tts',
    document: (told) => jobDocument(told, target),
    partial: partialNotice,
    saved: savedNotice,
    show({ clock, io }, label) {
      const progress = startProgress(io, clock, label);
      return { ...progress, state: ({ id, status }) => progress.update(`job ${id}: ${status}`) };
    },
  };
}

/** The document of creates and waits with `--json` (contract, section 3). */
export function jobDocument(
  { job, requestId = job.requestId, saved }: ToldJob<SpeechJob>,
  target: 'embedded' | 'hosted',
): Record<string, unknown> {
  return {
    id: job.id,
    kind: 'tts',
    api: job.api,
    status: job.status,
    output: saved?.path ?? null,
    requestId,
    creditsUsed: job.creditsUsed ?? null,
    quotaRemaining: job.quotaRemaining ?? null,
    ignoredParameters: job.ignoredParameters ?? null,
    target,
    raw: job.raw ?? null,
  };
}

/** That only a part of a text was spoken, on a line for stderr. */
export function partialNotice({ id, segments, status }: SpeechJob): string {
  const failed = segments.filter((segment) => segment.status === 'fail');
  const which = failed.map(({ index }) => index).join(', ');
  const what = failed.length === 1 ? 'segment' : 'segments';
  const said = failed.length === 0 ? `its status is ${status}` : `${what} ${which} failed`;
  return display(`foley: only a part of job ${id} was spoken (${said})`);
}

/** What was saved and what it cost, on a line for stderr. */
export function savedNotice({ isFree, job: told, saved }: ToldJob<SpeechJob>): string {
  const job = isFree === true ? { ...told, creditsUsed: undefined } : told;
  if (saved === undefined) return withCost(`job ${job.id}`, job);
  const sound = describeSound(saved.verdict);
  return withCost(saved.path === undefined ? sound : `${saved.path}: ${sound}`, job);
}
