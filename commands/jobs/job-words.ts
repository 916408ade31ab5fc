import { withCost } from '../tts-words.ts';
import type { SpeechJob } from '../../src/api/speech-jobs.ts';
import type { FetchedJob } from '../../src/jobs/fetch-job.ts';
import { describeSound } from '../../src/audio/describe.ts';
import type { SavedAudio } from '../../src/jobs/save-audio.ts';
import { display } from '../../src/text/display.ts';

/** A job and what was made of it. */
export interface ToldJob {
  readonly job: SpeechJob;
  /** Of its create, where this command created it. */
  readonly requestId?: string | undefined;
  readonly saved: SavedAudio | undefined;
}

/** The document of creates and waits with `--json` (contract, section 3). */
export function jobDocument(
  { job, requestId = job.requestId, saved }: ToldJob,
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

/** The same of a job of which perhaps nothing was heard, with what went wrong. */
export function fetchedDocument(
  { failure, id, job, saved }: FetchedJob,
  api: string,
  target: 'embedded' | 'hosted',
): Record<string, unknown> {
  const document =
    job === undefined ? { ...UNHEARD, id, api, target } : jobDocument({ job, saved }, target);
  if (failure === undefined) return document;
  const { code, exitCode, message } = failure;
  return { ...document, error: { code, message, exitCode } };
}

const UNHEARD = {
  id: null,
  kind: 'tts',
  api: null,
  status: null,
  output: null,
  requestId: null,
  creditsUsed: null,
  quotaRemaining: null,
  ignoredParameters: null,
  target: null,
  raw: null,
};

/** That only a part of a text was spoken, on a line for stderr. */
export function partialNotice({ id, segments, status }: SpeechJob): string {
  const failed = segments.filter((segment) => segment.status === 'fail');
  const which = failed.map(({ index }) => index).join(', ');
  const what = failed.length === 1 ? 'segment' : 'segments';
  const said = failed.length === 0 ? `its status is ${status}` : `${what} ${which} failed`;
  return display(`foley: only a part of job ${id} was spoken (${said})`);
}

/** What was saved and what it cost, on a line for stderr. */
export function savedNotice({ job, saved }: ToldJob): string {
  if (saved === undefined) return withCost(`job ${job.id}`, job);
  const sound = describeSound(saved.verdict);
  return withCost(saved.path === undefined ? sound : `${saved.path}: ${sound}`, job);
}
