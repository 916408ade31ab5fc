import { usageFailure } from '../errors/failure.ts';
import { toJson } from '../text/display.ts';

/** A word with its time, in whole milliseconds from the beginning of the audio. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The contents of a `--timings` file. */
export interface Timings {
  readonly version: 1;
  /** The text as it was submitted. */
  readonly text: string;
  /** Length of the audio. */
  readonly durationMs: number;
  /** Whether the service timed every word. */
  readonly complete: boolean;
  /** In the order of the text; starts never decrease, and no word ends after the next one begins. */
  readonly words: readonly TimedWord[];
}

/** Normalises the times of a service, which may overlap or exceed the audio: whole milliseconds, in order. */
export function timingsOf({
  text,
  durationMs,
  complete,
  words,
}: Omit<Timings, 'version'>): Timings {
  const length = Math.max(0, Math.ceil(durationMs));
  let earliest = 0;
  const starts = words.map(({ startMs }) => {
    earliest = clamp(startMs, earliest, length);
    return earliest;
  });
  return {
    version: 1,
    text,
    durationMs: length,
    complete,
    words: words.map((word, index) => {
      const startMs = starts[index] ?? 0;
      return {
        text: word.text,
        startMs,
        endMs: clamp(word.endMs, startMs, starts[index + 1] ?? length),
      };
    }),
  };
}

/** Formats a `--timings` file: JSON with a word on each line, and LF. */
export function timingsFile({ words, ...rest }: Timings): string {
  const head = toJson(rest).slice(0, -1);
  const rows = words.map(({ text, startMs, endMs }) => toJson({ text, startMs, endMs }));
  return `${head},"words":[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]}\n`;
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, Math.round(value)));
}

/**
 * Reads timings from a JSON value; ignores unknown fields.
 * @param shown the name of the file in messages
 * @throws Failure (usage) for a field with an invalid value
 */
export function readTimings(value: unknown, shown: string): Timings {
  const check = <T>(
    field: string,
    given: unknown,
    parse: (given: unknown) => T | undefined,
    allowed: string,
  ): T => {
    const parsed = parse(given);
    if (parsed !== undefined) return parsed;
    throw usageFailure(`${shown}: "${field}" is ${show(given)}; it takes ${allowed}`);
  };
  const document = record(value);
  if (document === undefined) throw usageFailure(`${shown} is not a JSON object`, HINT);
  const { version } = document;
  if (typeof version === 'number' && version > 1) {
    throw usageFailure(
      `${shown} has version ${version} of timings; this foley reads version 1`,
      'Update foley, or have the timings written by this one.',
    );
  }
  if (version !== 1)
    throw usageFailure(`${shown}: "version" is ${show(version)}; it takes 1`, HINT);
  const durationMs = check('durationMs', document['durationMs'], milliseconds, MILLISECONDS);
  const words = check(
    'words',
    document['words'],
    (given) => (Array.isArray(given) ? (given as readonly unknown[]) : undefined),
    'an array of {"text","startMs","endMs"}',
  );
  const text = check(
    'text',
    document['text'],
    wellFormed,
    'the text that was spoken, in valid Unicode',
  );
  const complete = check(
    'complete',
    document['complete'],
    (given) => (typeof given === 'boolean' ? given : undefined),
    'true or false',
  );
  let previous = 0;
  return {
    version: 1,
    text,
    durationMs,
    complete,
    words: words.map((given, index): TimedWord => {
      const field = `words[${index}]`;
      const word = check(field, given, record, 'an object');
      const wordText = check(`${field}.text`, word['text'], wellFormed, 'a text in valid Unicode');
      const startMs = check(`${field}.startMs`, word['startMs'], milliseconds, MILLISECONDS);
      const endMs = check(`${field}.endMs`, word['endMs'], milliseconds, MILLISECONDS);
      const require = (name: string, ms: number, isAllowed: boolean, allowed: string): true =>
        check(`${field}.${name}`, ms, () => isAllowed || undefined, allowed);
      const before = `at least ${previous}, where the word before begins`;
      require('startMs', startMs, startMs >= previous, before);
      require('endMs', endMs, endMs >= startMs, `at least its own start, ${startMs}`);
      require('endMs', endMs, endMs <= durationMs, `at most "durationMs", ${durationMs}`);
      previous = startMs;
      return { text: wordText, startMs, endMs };
    }),
  };
}

const HINT = 'Timings are written by `foley tts --timings FILE.json`.';
const MILLISECONDS = 'milliseconds, a number of at least 0';

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? { ...value } : undefined;
}

/** A thousand hours; much larger numbers could not be displayed. */
const LONGEST_MS = 1_000 * 3_600_000;

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_MS ? value : undefined;
}

function wellFormed(value: unknown): string | undefined {
  return typeof value === 'string' && !/\p{Surrogate}/u.test(value) ? value : undefined;
}

const SHOWN_LENGTH = 40;

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  const json = JSON.stringify(value);
  return json.length > SHOWN_LENGTH ? `${json.slice(0, SHOWN_LENGTH)}…` : json;
}
