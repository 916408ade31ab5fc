import type { Command } from 'commander';
import { Option } from 'commander';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { nearestHint } from '../../text/did-you-mean.ts';
import { durationMs } from '../../text/duration.ts';
import type { SettingName } from '../../config/setting-definitions.ts';

interface NumberLimits {
  readonly minimum: number;
  readonly maximum?: number;
}

/** What the value of a flag is, and which setting is its default. A duration is text such as `30s`. */
interface FlagValue {
  readonly type?: 'integer' | 'number' | 'duration';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly setting?: SettingName;
}

const VALUES = new WeakMap<Option, FlagValue>();

/** Returns what the value of a flag is. Without a type, it is text. */
export function valueOf(option: Option): FlagValue {
  return VALUES.get(option) ?? {};
}

/** Adds flags to a command, in this order. */
export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command;
}

/** Creates a flag that accepts non-blank text of at most `maximum` characters. */
export function textOption(flags: string, description: string, maximum = Infinity): Option {
  return new Option(flags, description).argParser(textWithin(nameOf(flags), maximum));
}

/** Creates a flag that accepts a whole number. */
export function integerOption(flags: string, description: string, range: NumberLimits): Option {
  const option = new Option(flags, description).argParser(integerWithin(nameOf(flags), range));
  return withValue(option, { ...range, type: 'integer' });
}

/** Creates a flag that accepts a decimal number. */
export function numberOption(flags: string, description: string, range: NumberLimits): Option {
  const option = new Option(flags, description).argParser(numberWithin(nameOf(flags), range));
  return withValue(option, { ...range, type: 'number' });
}

/**
 * Creates a flag that accepts only the given words.
 * @param meant returns the allowed word that an error message suggests instead of an invalid value
 */
export function choiceOption(
  flags: string,
  description: string,
  words: readonly string[],
  meant?: (given: string) => string | undefined,
): Option {
  return new Option(flags, description).argParser(oneOf(nameOf(flags), words, meant));
}

/** Creates a flag that accepts a duration; its value is in milliseconds. */
export function durationOption(flags: string, description: string, parse = parseDuration): Option {
  const option = new Option(flags, description);
  option.argParser((given) => parse(nameOf(flags), given));
  return withValue(option, { type: 'duration' });
}

/** Marks a flag whose default is a setting. */
export function withSetting(option: Option, setting: SettingName): Option {
  return withValue(option, { setting });
}

function withValue(option: Option, value: FlagValue): Option {
  VALUES.set(option, { ...VALUES.get(option), ...value });
  return option;
}

/** Creates a flag that may be repeated. Its value is a list; `parse` converts each entry. */
export function listOption(
  flags: string,
  description: string,
  parse: (given: string) => unknown,
): Option {
  const append = (given: string, before: readonly unknown[] | undefined): readonly unknown[] => [
    ...(before ?? []),
    parse(given),
  ];
  return new Option(flags, `${description} (may be repeated)`).argParser(append);
}

/**
 * Refuses an empty `--output`. Refuses `--output -` together with `--json`, because both write to stdout.
 * @param contents what the output contains, as a noun for messages
 * @throws Failure of kind `usage`
 */
export function checkOutputFlag(
  output: string | undefined,
  json: boolean,
  contents = 'audio',
): void {
  if (output === '') throw usageFailure('--output is empty', 'Give a file name, or - for stdout.');
  if (output !== '-' || !json) return;
  throw usageFailure(
    `--json and ${contents} cannot both go to stdout`,
    'Give a file with -o, or leave --json out.',
  );
}

function nameOf(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

/** A parser that accepts only certain words. Help and completion read them from `words`. */
export interface ChoiceParser<Word extends string> {
  (given: string): Word;
  readonly words: readonly Word[];
}

/** Creates a parser that accepts only the given words. */
export function oneOf<Word extends string>(
  flag: string,
  words: readonly Word[],
  meant?: (given: string) => string | undefined,
): ChoiceParser<Word> {
  const parse = (given: string): Word => {
    const word = words.find((candidate) => candidate === given);
    if (word !== undefined) return word;
    throw usageFailure(
      `${flag} is "${given}"; it takes ${words.join(', ')}`,
      nearestHint(meant?.(given) ?? given, words),
    );
  };
  return Object.assign(parse, { words });
}

/** Returns the words that the parser of a flag accepts; undefined if the parser has no fixed list of words. */
export function wordsOf(parser: unknown): readonly string[] | undefined {
  if (typeof parser !== 'function' || !('words' in parser)) return undefined;
  const { words } = parser;
  return Array.isArray(words) ? words.filter((word) => typeof word === 'string') : undefined;
}

/** Creates a parser for a whole number within limits. */
export function integerWithin(
  flag: string,
  { minimum, maximum }: NumberLimits,
): (given: string) => number {
  const largest = maximum ?? Number.MAX_SAFE_INTEGER;
  return numberParser(flag, 'a whole number', /^-?\d+$/, [minimum, largest]);
}

/** Creates a parser for a decimal number within limits. */
export function numberWithin(
  flag: string,
  { minimum, maximum }: NumberLimits,
): (given: string) => number {
  const pattern = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
  return numberParser(flag, 'a number', pattern, [minimum, maximum ?? Infinity]);
}

function numberParser(
  flag: string,
  numberKind: string,
  pattern: RegExp,
  [minimum, maximum]: readonly [number, number],
): (given: string) => number {
  const isOpen = maximum >= Number.MAX_SAFE_INTEGER;
  const limits = isOpen ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  const allowed = `${numberKind} ${limits}`;
  return (given) => {
    const value = pattern.test(given) ? Number(given) : NaN;
    if (value >= minimum && value <= maximum) return value;
    throw usageFailure(`${flag} is "${given}"; it takes ${allowed}`);
  };
}

/** Creates a parser for non-blank text of at most `maximum` characters. */
export function textWithin(flag: string, maximum: number): (given: string) => string {
  const check = filled(flag);
  return (given) => {
    const length = countCodePoints(given);
    if (length > maximum) {
      throw usageFailure(`${flag} has ${length} characters; at most ${maximum} are allowed`);
    }
    return check(given);
  };
}

/** Creates a parser for any text that is not blank. */
export function filled(flag: string): (given: string) => string {
  return (given) => {
    if (given.trim() === '') {
      throw usageFailure(`${flag} is empty`, 'Give a value, or leave the flag out.');
    }
    return given;
  };
}

/**
 * Parses a duration; returns milliseconds.
 * @throws Failure of kind `usage` for an invalid duration; the message names the flag
 */
export function parseDuration(flag: string, given: string): number {
  const duration = durationMs(given);
  if (duration !== undefined) return duration;
  throw usageFailure(
    `${flag} is "${given}"; it takes a duration such as 500ms, 30s, 10m or 1h (plain numbers are seconds)`,
  );
}

/**
 * Parses a time limit, a duration above 0; returns milliseconds.
 * @throws Failure of kind `usage` for an invalid time limit; the message names the flag
 */
export function parseTimeLimit(flag: string, given: string): number {
  const ms = parseDuration(flag, given);
  if (ms > 0) return ms;
  throw usageFailure(`${flag} is "${given}"; it takes a duration above 0, such as 24h`);
}
