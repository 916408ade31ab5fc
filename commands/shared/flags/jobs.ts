import { Option } from 'commander';
import type { ApiClient } from '../../../src/api/client.ts';
import type { PollPace, PollDeps, PolledJob } from '../../../src/api/poll.ts';
import { noticeTrouble } from '../../../src/api/poll.ts';
import { pollPace } from '../../../src/api/resources/jobs.ts';
import type { JobApi, SpeechJob } from '../../../src/api/resources/jobs.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../../src/contract/limits.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import type { Context } from '../../../src/cli/command.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import {
  choiceOption,
  durationOption,
  integerOption,
  textOption,
} from '../../../src/cli/flags/values.ts';

const JOB_APIS: readonly JobApi[] = ['v3', 'v1'];

export interface ApiFlag {
  readonly api?: JobApi;
}

export interface WaitFlags {
  readonly timeout?: number;
  readonly pollInterval?: number;
}

export function apiOption(): Option {
  const description = `API surface: ${JOB_APIS.join(', ')} (default: v3)`;
  return choiceOption('--api <surface>', description, JOB_APIS);
}

export function waitOptions(): Option[] {
  return [
    durationOption(
      '--timeout <duration>',
      'stop waiting after this time (exit code 28); the job continues',
    ),
    durationOption(
      '--poll-interval <duration>',
      'time between polls (default: a tenth of the elapsed time, at least Retry-After)',
    ),
  ];
}

/** Returns the options for polling a speech job. The timeout starts when this function is called. */
export function pollingOf(
  context: Context,
  client: ApiClient,
  { api = 'v3', ...flags }: ApiFlag & WaitFlags,
): PollDeps<SpeechJob> {
  return pollingAt(context, pollPace(client, api, flags.pollInterval), flags);
}

/** Returns the options for polling a job of any kind. The timeout starts when this function is called. */
export function pollingAt<Job extends PolledJob>(
  { system: { clock, random }, io }: Context,
  pace: PollPace,
  { timeout }: WaitFlags,
): PollDeps<Job> {
  return {
    clock,
    random,
    pace,
    deadlineAt: timeout === undefined ? undefined : clock.monotonic() + timeout,
    onTrouble: noticeTrouble((line) => io.notice(line)),
  };
}

export interface CreateWaitFlags extends WaitFlags {
  readonly wait?: true;
  readonly output?: string;
  readonly clobber: boolean;
}

/**
 * Refuses `--no-clobber` without `-o`. Refuses `--timeout` and `--poll-interval` without `--wait` or `-o`.
 * @throws Failure of kind `usage`
 */
export function refuseUnusedWaitFlags({
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
  const flag = timeout === undefined ? pollInterval && '--poll-interval' : '--timeout';
  if (flag === undefined || flag === 0) return;
  throw usageFailure(`${flag} requires --wait or -o`, 'Add --wait.');
}

export interface PageFlags {
  readonly status?: string;
  readonly page?: number;
  readonly limit?: number;
  readonly all?: true;
}

/** Creates the flags of commands that list jobs. */
export function jobListOptions(): readonly Option[] {
  return [
    textOption('--status <status>', 'only jobs in this state'),
    ...pageOptions('limit', 'jobs'),
  ];
}

/** Creates `--page`, `--all` and the page size flag. @param things plural noun for the listed items, such as `jobs` */
export function pageOptions(sizeFlag: 'limit' | 'page-size', things: string): readonly Option[] {
  const size = `${things} per page, at most ${PAGE_SIZE_MAX} (default: ${PAGE_SIZE_DEFAULT})`;
  const sizes = { minimum: 1, maximum: PAGE_SIZE_MAX };
  return [
    integerOption('--page <n>', 'page number, from 1', { minimum: 1 }),
    integerOption(`--${sizeFlag} <n>`, size, sizes),
    new Option('--all', 'list every page').conflicts(['page', 'limit', 'pageSize']),
  ];
}

/** Fetches all pages of a list. @returns `rows`: the items; `data`: the document that `--json` prints */
export async function collectAll<Item>(
  listed: AsyncIterable<{ readonly item: Item; readonly raw: unknown }>,
): Promise<{ readonly rows: readonly Item[]; readonly data: unknown }> {
  const rows: Item[] = [];
  const items: unknown[] = [];
  for await (const { item, raw } of listed) {
    rows.push(item);
    items.push(raw);
  }
  return { rows, data: { items, total: items.length } };
}

/** Returns a notice with the number of the next page. On the last page, the result is an empty object. */
export function nextPageNotice({
  nextPage,
  page,
}: {
  readonly nextPage: number | undefined;
  readonly page: number;
}): CommandResult {
  if (nextPage === undefined) return {};
  return { notice: `foley: page ${page}; --page ${nextPage} is next, --all shows all` };
}
