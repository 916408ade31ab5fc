import type { GlobalOptions } from '../../src/cli/global-options.ts';
import type { JobApi } from '../../src/api/speech-jobs.ts';

export interface ResumeWishes {
  readonly api: JobApi;
  readonly output: string | undefined;
  /** Only this segment, for which nobody waits. */
  readonly segment?: number | undefined;
}

/** The command that goes on with jobs, on the same service and into the same place. */
export function resumeCommand(
  ids: readonly string[],
  { api, output, segment }: ResumeWishes,
  { account, apiKeyFile, baseUrl, local }: GlobalOptions,
): string {
  const words = [
    segment === undefined ? 'foley jobs wait' : 'foley jobs download',
    ...ids.map((id) => quoted(id)),
    ...(segment === undefined ? [] : ['--segment', `${segment}`]),
    ...(output === undefined ? [] : ['-o', quoted(output)]),
    ...(api === 'v3' ? [] : ['--api', api]),
    ...(local === true ? ['--local'] : []),
    ...(baseUrl === undefined ? [] : ['--base-url', quoted(baseUrl)]),
    ...(account === undefined ? [] : ['--account', quoted(account)]),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file', quoted(apiKeyFile)]),
  ];
  return words.join(' ');
}

function quoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
