import { Option } from 'commander';
import type { ColorChoice } from '../render/style.ts';
import { COLOR_CHOICES } from '../render/style.ts';
import { choiceOption, durationOption, integerOption, parseTimeLimit } from './values.ts';

export interface GlobalOptions {
  readonly json?: true;
  /** The filter given with `--jq`. It turns on JSON output, as `--json` does, but errors are still printed as text. */
  readonly jq?: string;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly account?: string;
  readonly local?: true;
  readonly baseUrl?: string;
  readonly realtimeUrl?: string;
  readonly apiKeyFile?: string;
  readonly maxRetries?: number;
  /** Maximum wait for response headers, in milliseconds. */
  readonly responseTimeout?: number;
  /** Maximum wait for the next byte of a body, in milliseconds. */
  readonly idleTimeout?: number;
  readonly maxBytes?: number;
  readonly progress: boolean;
  /** False if `--no-pager` forbids a pager. */
  readonly pager: boolean;
  readonly color: ColorChoice;
  /** False if `--no-input` forbids prompts. */
  readonly input: boolean;
}

const GLOBAL_GROUP = 'Global options:';

export function helpOption(): Option {
  return new Option('-h, --help', 'show this help').helpGroup(GLOBAL_GROUP);
}

export function globalOptions(): Option[] {
  return [
    new Option('--json', 'print one JSON document'),
    new Option('-q, --quiet', 'print only the result and errors'),
    new Option('--verbose', 'print a line for each request on stderr'),
    new Option('--account <name>', 'stored account to use'),
    new Option('--local', 'use the embedded service'),
    new Option('--base-url <url>', 'address of the hosted service'),
    new Option('--realtime-url <url>', 'realtime host, if it is a different one'),
    new Option('--api-key-file <path>', 'read the API key from a file; - is stdin'),
    integerOption('--max-retries <n>', 'retries of a request (default: 4)', {
      minimum: 0,
      maximum: 999,
    }),
    durationOption(
      '--response-timeout <duration>',
      'wait this long for response headers (default: 10m when billed, else 60s)',
      parseTimeLimit,
    ),
    durationOption(
      '--idle-timeout <duration>',
      'longest pause within a response body (default: 60s)',
      parseTimeLimit,
    ),
    integerOption(
      '--max-bytes <n>',
      'abort audio above this size (default: 8 times the expected size, at least 256 MiB)',
      { minimum: 1 },
    ),
    new Option('--no-progress', 'hide progress'),
    new Option('--no-pager', 'print long output without a pager'),
    choiceOption('--color <when>', 'use colors: auto, always or never', COLOR_CHOICES).default(
      'auto',
      'auto',
    ),
    new Option('--no-input', 'never prompt'),
    new Option('-V, --version', 'print the version'),
  ].map((option) => option.helpGroup(GLOBAL_GROUP));
}
