import { Option } from 'commander';
import type { ApiClient } from '../../src/api/client.ts';
import { pollPace } from '../../src/api/speech-jobs.ts';
import type { JobApi, SpeechJob } from '../../src/api/speech-jobs.ts';
import type { PollPace } from '../../src/api/poll-delay.ts';
import type { PollDeps, PolledJob } from '../../src/api/poll-job.ts';
import { oneOf } from '../../src/cli/choice-flag.ts';
import type { Context } from '../../src/cli/context.ts';
import { parseDuration } from '../../src/cli/duration.ts';
import { usageFailure } from '../../src/errors/failure.ts';

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
    `interface of the service: ${JOB_APIS.join(', ')} (default: v3)`,
  ).argParser(oneOf('--api', JOB_APIS));
}

export function waitOptions(): Option[] {
  return [
    new Option(
      '--timeout <duration>',
      'stop waiting after this time (exit code 28); the job goes on',
    ).argParser((given) => parseDuration('--timeout', given)),
    new Option(
      '--poll-interval <duration>',
      'ask this often (default: a tenth of the time that has passed; never sooner than the service says)',
    ).argParser((given) => parseDuration('--poll-interval', given)),
  ];
}

/** How the speech jobs of a command are waited for; the time begins to run now. */
export function pollingOf(
  context: Context,
  client: ApiClient,
  { api = 'v3', ...flags }: ApiFlag & WaitFlags,
): Omit<PollDeps<SpeechJob>, 'signal'> {
  return pollingAt(context, pollPace(client, api, flags.pollInterval), flags);
}

/** The same for jobs of any kind, at the pace that their service asks for. */
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
      // Once is enough: it goes on until there is an answer.
      if (!isTold) io.notice(`foley: ${message}; asking about the job again`);
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
 * Flags of a wait that is not asked for are not ignored.
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
    throw usageFailure('--no-clobber means something only with -o', 'Add -o PATH.');
  }
  if (wait === true || output !== undefined) return;
  const given = timeout === undefined ? pollInterval && '--poll-interval' : '--timeout';
  if (given === undefined || given === 0) return;
  throw usageFailure(`${given} means something only with --wait or -o`, 'Add --wait.');
}
