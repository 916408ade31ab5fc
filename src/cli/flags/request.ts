import { Option } from 'commander';
import { isHeaderValue } from '../../api/request.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';
import { usageFailure } from '../../errors/failure.ts';
import { numberWithin, textWithin } from './speech.ts';

/** The ids that every command takes which creates something that may be billed. */
export interface IdFlags {
  readonly idempotencyKey?: string;
  readonly requestId?: string;
  readonly dryRun?: true;
}

/** The flags of every command that speaks and is billed for it. */
export function requestOptions(): Option[] {
  return [
    ...idOptions('key under which a repeated request is not billed again'),
    new Option('--max-credits <n>', 'refuse what may cost more').argParser(
      numberWithin('--max-credits', { minimum: 0 }),
    ),
    new Option(
      '--credit-rate <n>',
      'credits per character for --max-credits (default: from what was charged)',
    ).argParser(numberWithin('--credit-rate', { minimum: 0 })),
    dryRunOption(),
  ];
}

/** Flags for the ids of a request. @param keyHelp what the key is good for there */
export function idOptions(keyHelp: string): Option[] {
  return [
    new Option('--idempotency-key <key>', keyHelp).argParser(headerText('--idempotency-key')),
    new Option('--request-id <id>', 'trace id of the request').argParser(
      headerText('--request-id'),
    ),
  ];
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'print the request and send nothing');
}

/** A parser for a flag whose text becomes the value of a header. */
function headerText(flag: string): (given: string) => string {
  const check = textWithin(flag, IDEMPOTENCY_KEY_MAX_CHARACTERS);
  return (given) => {
    const value = check(given);
    if (isHeaderValue(value)) return value;
    throw usageFailure(
      `${flag} has characters that a header cannot carry`,
      'Use printable ASCII without spaces at the ends.',
    );
  };
}
