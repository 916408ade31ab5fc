import { Option } from 'commander';
import type { ApiClient } from '../../src/api/client.ts';
import { pollPace } from '../../src/api/speech-jobs.ts';
import type { JobApi, SpeechJob } from '../../src/api/speech-jobs.ts';
import type { PollDeps } from '../../src/api/poll-job.ts';
import { oneOf } from '../../src/cli/choice-flag.ts';
import type { Context } from '../../src/cli/context.ts';
import { parseDuration } from '../../src/cli/duration.ts';

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

/** How the jobs of a command are waited for; the time begins to run now. */
export function pollingOf(
  { clock, io, random }: Context,
  client: ApiClient,
  { api = 'v3', pollInterval, timeout }: ApiFlag & WaitFlags,
): Omit<PollDeps<SpeechJob>, 'signal'> {
  let isTold = false;
  return {
    clock,
    random,
    pace: pollPace(client, api, pollInterval),
    deadlineAt: timeout === undefined ? undefined : clock.monotonic() + timeout,
    onTrouble({ message }) {
      // Once is enough: it goes on until there is an answer.
      if (!isTold) io.notice(`foley: ${message}; asking about the job again`);
      isTold = true;
    },
  };
}
