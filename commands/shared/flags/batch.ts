import { Option } from 'commander';
import { integerOption, numberOption, withSetting } from '../../../src/cli/flags/values.ts';
import type { CostFlags } from './speech.ts';
import { reuseOptions } from './speech.ts';

/** The values of the flags that {@link runOptions} creates, such as `--concurrency`. */
export interface RunFlags extends CostFlags {
  readonly concurrency?: number;
  readonly retryFailed?: true;
  readonly dryRun?: true;
}

/** Creates the flags of commands that send many speech requests. */
export function runOptions(): Option[] {
  return [
    withSetting(
      integerOption('-j, --concurrency <n>', 'items at a time (default: 4)', {
        minimum: 1,
        maximum: 256,
      }),
      'concurrency',
    ),
    numberOption('--max-credits <n>', 'send nothing that may cost more credits in total', {
      minimum: 0,
    }),
    numberOption(
      '--credit-rate <n>',
      'credits per character for the estimate (default: from earlier charges)',
      { minimum: 0 },
    ),
    ...reuseOptions(),
    new Option('--retry-failed', 'speak failed items again; those that were billed cost again'),
    new Option('--dry-run', 'show the plan and send nothing'),
  ];
}
