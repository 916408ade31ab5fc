import { isIPv6 } from 'node:net';
import type { Command } from 'commander';
import { Option } from 'commander';
import { oneOf, integerWithin } from '../../src/cli/flags/values.ts';
import { FAMILIES } from '../../src/contract/families.ts';
import { IMAGE_MODEL_IDS, VIDEO_MODEL_IDS } from '../../src/contract/values.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { FaultRule } from '../../src/service/http/faults.ts';
import { parseFaultRule } from './fault-rule.ts';

/** The flags of `foley serve`, read and checked one by one. */
export interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly acceptKeysFile?: string;
  readonly credits?: number;
  /** Requests a second. */
  readonly rateLimit?: number;
  /** Requests that wait for speech. */
  readonly maxWaiting?: number;
  readonly unavailable?: readonly string[];
  readonly fault?: readonly FaultRule[];
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

const MODELS = [
  ...FAMILIES.flatMap(({ models }): readonly string[] => models),
  ...IMAGE_MODEL_IDS,
  ...VIDEO_MODEL_IDS,
];
const MOST_CREDITS = 1_000_000_000_000;

/** Adds them to the command. */
export function addServeFlags(command: Command): void {
  for (const option of [...placeOptions(), ...ruleOptions()]) command.addOption(option);
}

/** Where it listens, whose it is, and what its accounts have. */
function placeOptions(): Option[] {
  return [
    new Option('--host <address>', 'address to listen on').default('127.0.0.1'),
    new Option('--port <n>', 'port to listen on; 0 is a free one')
      .default(4747)
      .argParser(integerWithin('--port', { minimum: 0, maximum: 65_535 })),
    new Option('--data-dir <dir>', 'where its data is kept (default: the state folder)'),
    new Option('--accept-keys-file <path>', 'API keys to accept, lines of "key[ account]"'),
    new Option('--credits <n>', 'credits that every account begins this run with').argParser(
      integerWithin('--credits', { minimum: 0, maximum: MOST_CREDITS }),
    ),
    new Option(
      '--rate-limit <rate>',
      'requests of an account, such as 10/s, after a burst of one second’s',
    ).argParser(parseRate),
    new Option(
      '--max-waiting <n>',
      'requests that may wait for speech; more get 429 (default: 64)',
    ).argParser(integerWithin('--max-waiting', { minimum: 1, maximum: 10_000 })),
  ];
}

/** How it misbehaves, and whom it answers. */
function ruleOptions(): Option[] {
  return [
    repeatable(
      '--unavailable <model>',
      'model that is refused as unavailable',
      oneOf('--unavailable', MODELS),
    ),
    repeatable('--fault <rule>', 'misbehave, such as "POST /**; status=503"', parseFaultRule),
    repeatable(
      '--allow-host <name>',
      'host to answer besides loopback, and to fetch media from',
      parseHostName,
    ),
    repeatable('--allow-origin <url>', 'origin of a page to answer', parseOrigin),
  ];
}

function repeatable(flags: string, description: string, parse: (given: string) => unknown): Option {
  return new Option(flags, `${description} (may be repeated)`).argParser(
    (given: string, previous: readonly unknown[] | undefined) => [
      ...(previous ?? []),
      parse(given),
    ],
  );
}

function parseRate(given: string): number {
  const rate = Number(/^(\d{1,6}(?:\.\d{1,6})?)\/s$/.exec(given)?.[1]);
  if (rate > 0) return rate;
  throw usageFailure(`--rate-limit is "${given}"; it takes a rate such as 10/s or 0.5/s`);
}

/** As the Host header names it. */
function parseHostName(given: string): string {
  if (isIPv6(given)) return `[${given}]`;
  if (/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(given)) return given;
  throw usageFailure(
    `--allow-host is "${given}"; it takes a host name or address, without scheme, port and path`,
  );
}

function parseOrigin(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isWeb && url.href === `${url.origin}/`) return url.origin;
  throw usageFailure(
    `--allow-origin is "${given}"; it takes an origin such as https://studio.example, without a path`,
  );
}
