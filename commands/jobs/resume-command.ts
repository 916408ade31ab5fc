import type { GlobalOptions } from '../../src/cli/global-options.ts';
import type { JobApi } from '../../src/api/speech-jobs.ts';

export interface ResumeWishes {
  /** What the jobs are of; speech by default. */
  readonly noun?: string;
  readonly api: JobApi;
  readonly output: string | undefined;
  /** Only this segment, for which nobody waits. */
  readonly segment?: number | undefined;
}

/** The command that goes on with jobs, on the same service and into the same place. */
export function resumeCommand(
  ids: readonly string[],
  { api, noun = 'jobs', output, segment }: ResumeWishes,
  globals: GlobalOptions,
): string {
  const words = [
    `foley ${noun} ${segment === undefined ? 'wait' : 'download'}`,
    ...ids.map((id) => quoted(id)),
    ...(segment === undefined ? [] : ['--segment', `${segment}`]),
    ...(output === undefined ? [] : ['-o', quoted(output)]),
    ...(api === 'v3' || noun !== 'jobs' ? [] : ['--api', api]),
    ...serviceWords(globals),
  ];
  return words.join(' ');
}

/** The flags with which another command talks to the same service. */
export function serviceWords({
  account,
  apiKeyFile,
  baseUrl,
  local,
}: GlobalOptions): readonly string[] {
  return [
    ...(local === true ? ['--local'] : []),
    ...(baseUrl === undefined ? [] : ['--base-url', quoted(baseUrl)]),
    ...(account === undefined ? [] : ['--account', quoted(account)]),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file', quoted(apiKeyFile)]),
  ];
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
