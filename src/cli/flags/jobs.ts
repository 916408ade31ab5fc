import { Option } from 'commander';
import type { ApiClient } from '../../api/client.ts';
import type { PollPace, PollDeps, PolledJob } from '../../api/poll.ts';
import { pollPace } from '../../api/resources/jobs.ts';
import type { JobApi, SpeechJob } from '../../api/resources/jobs.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../contract/limits.ts';
import { usageFailure } from '../../errors/failure.ts';
import type { Context } from '../command.ts';
import type { CommandResult } from '../render/result.ts';
import { filled } from './speech.ts';
import { oneOf, parseDuration, integerWithin } from './values.ts';

/** Every interface that has speech jobs, in the order of the help. */
const JOB_APIS: readonly JobApi[] = ['v3', 'v1'];

export interface ApiFlag {
  readonly api?: JobApi;
}

export interface WaitFlags {
  /** Milliseconds. */
  readonly timeout?: number;
  /** Milliseconds. */
  readonly pollInterval?: number;
}

export function apiOption(): Option {
  return new Option(
    '--api <surface>',
    `API surface: ${JOB_APIS.join(', ')} (default: v3)`,
  ).argParser(oneOf('--api', JOB_APIS));
}

export function waitOptions(): Option[] {
  return [
    new Option(
      '--timeout <duration>',
      'stop waiting after this time (exit code 28); the job continues',
    ).argParser((given) => parseDuration('--timeout', given)),
    new Option(
      '--poll-interval <duration>',
      'time between polls (default: a tenth of the elapsed time, at least Retry-After)',
    ).argParser((given) => parseDuration('--poll-interval', given)),
  ];
}

/** Returns how to poll a speech job; the timeout starts now. */
export function pollingOf(
  context: Context,
  client: ApiClient,
  { api = 'v3', ...flags }: ApiFlag & WaitFlags,
): Omit<PollDeps<SpeechJob>, 'signal'> {
  return pollingAt(context, pollPace(client, api, flags.pollInterval), flags);
}

/** Returns how to poll jobs of any kind; the timeout starts now. */
export function pollingAt<Job extends PolledJob>(
  { clock, io, random }: Context,
  pace: PollPace,
  { timeout }: WaitFlags,
): Omit<PollDeps<Job>, 'signal'> {
  let isTold = false;
  return {
    clock,
    random,
    pace,
    deadlineAt: timeout === undefined ? undefined : clock.monotonic() + timeout,
    onTrouble({ message }) {
      // Reported once; polling continues.
      if (!isTold) io.notice(`foley: ${message}; retrying`);
      isTold = true;
    },
  };
}

export interface CreateWaitFlags extends WaitFlags {
  readonly wait?: true;
  readonly output?: string;
  readonly clobber: boolean;
}

/**
 * Refuses wait flags without `--wait` or `-o`.
 * @throws Failure (usage)
 */
export function refuseIdleFlags({
  clobber,
  output,
  pollInterval,
  timeout,
  wait,
}: CreateWaitFlags): void {
  if (output === undefined && !clobber) {
    throw usageFailure('--no-clobber requires -o', 'Add -o PATH.');
  }
  if (wait === true || output !== undefined) return;
  const given = timeout === undefined ? pollInterval && '--poll-interval' : '--timeout';
  if (given === undefined || given === 0) return;
  throw usageFailure(`${given} requires --wait or -o`, 'Add --wait.');
}

/** The flags of every list of jobs. */
export interface PageFlags {
  readonly status?: string;
  readonly page?: number;
  readonly limit?: number;
  readonly all?: true;
}

/** Those flags, with their bounds. */
export function pageOptions(): readonly Option[] {
  return [
    new Option('--status <status>', 'only jobs in this state').argParser(filled('--status')),
    new Option('--page <n>', 'page number, from 1').argParser(
      integerWithin('--page', { minimum: 1 }),
    ),
    new Option(
      '--limit <n>',
      `jobs a page, at most ${PAGE_SIZE_MAX} (default: ${PAGE_SIZE_DEFAULT})`,
    ).argParser(integerWithin('--limit', { minimum: 1, maximum: PAGE_SIZE_MAX })),
    new Option('--all', 'every page').conflicts(['page', 'limit']),
  ];
}

/** Returns a notice with the next page, unless this is the last. */
export function nextPageNotice({
  nextPage,
  page,
}: {
  readonly nextPage: number | undefined;
  readonly page: number;
}): Pick<CommandResult, 'notice'> {
  if (nextPage === undefined) return {};
  return { notice: `foley: page ${page}; --page ${nextPage} is next, --all shows all` };
}
