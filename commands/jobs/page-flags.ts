import { Option } from 'commander';
import type { CommandResult } from '../../src/cli/result.ts';
import { integerWithin } from '../../src/cli/number-flags.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import { filled } from '../speech-flags.ts';

/** The flags of every list of jobs (contract, sections 6 and 8). */
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

/** How to go on, where a page is not the last. */
export function nextPageNotice({
  nextPage,
  page,
}: {
  readonly nextPage: number | undefined;
  readonly page: number;
}): Pick<CommandResult, 'notice'> {
  if (nextPage === undefined) return {};
  return { notice: `foley: page ${page}; --page ${nextPage} goes on, --all shows all` };
}
