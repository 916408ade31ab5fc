import { usageFailure } from '../errors/failure.ts';
import { toJson } from '../text/display.ts';

/** A word with its start and end in the audio, in whole milliseconds. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The content of a `--timings` file. */
export interface Timings {
  readonly version: 1;
  readonly text: string;
  /** Length of the audio in milliseconds. */
  readonly durationMs: number;
  /** Whether the service timed every word. */
  readonly complete: boolean;
  /** The words in text order. Starts never decrease, and no word ends after the next word starts. */
  readonly words: readonly TimedWord[];
  /** The words that were not found in the audio, in text order. In the file, their times are null. */
  readonly unplaced?: readonly UnplacedWord[];
}

/** A word of the text without a time. */
export interface UnplacedWord {
  readonly text: string;
  /** Number of timed words before this word. */
  readonly index: number;
}

/** Creates timings from the times that the service reports. Rounds to milliseconds and removes overlaps. */
export function timingsOf({
  text,
  durationMs,
  complete,
  words,
  unplaced,
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
    ...(unplaced === undefined ? {} : { unplaced }),
  };
}

/** Formats the content of a `--timings` file: JSON with one word per line. */
export function timingsFile(timings: Timings): string {
  const { words, ...rest } = timingsDocument(timings);
  const head = toJson(rest).slice(0, -1);
  const rows = words.map((word) => toJson(word));
  return `${head},"words":[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]}\n`;
}

/** Returns the JSON document of timings, in which a word that was not found has null times. */
export function timingsDocument({ unplaced = [], words, ...rest }: Timings) {
  const rows: { text: string; startMs: number | null; endMs: number | null }[] = [];
  let next = 0;
  for (let index = 0; index <= words.length; index += 1) {
    for (; unplaced[next]?.index === index; next += 1) {
      rows.push({ text: unplaced[next]?.text ?? '', startMs: null, endMs: null });
    }
    const word = words[index];
    if (word !== undefined) {
      rows.push({ text: word.text, startMs: word.startMs, endMs: word.endMs });
    }
  }
  return { ...rest, words: rows };
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, Math.round(value)));
}

/**
 * Reads timings from a parsed JSON value. Ignores unknown fields.
 * @param shown names the file in messages
 * @throws Failure (usage) for a field with an invalid value
 */
export function readTimings(value: unknown, shown: string): Timings {
  const fail = (field: string, given: unknown, allowed: string): never => {
    throw usageFailure(`${shown}: "${field}" is ${show(given)}; use ${allowed}`);
  };
  if (!isRecord(value)) throw usageFailure(`${shown} is not a JSON object`, HINT);
  const { complete, durationMs, text, version, words } = value;
  if (typeof version === 'number' && version > 1) {
    throw usageFailure(
      `${shown}: "version" is ${version}; this version of foley supports only 1`,
      'Update foley, or create the timings again with this version of foley.',
    );
  }
  if (version !== 1) throw usageFailure(`${shown}: "version" is ${show(version)}; use 1`, HINT);
  if (!isTime(durationMs)) return fail('durationMs', durationMs, MILLISECONDS);
  if (!Array.isArray(words)) return fail('words', words, 'an array of {"text","startMs","endMs"}');
  if (!isWellFormed(text)) return fail('text', text, 'the text that was spoken, in valid Unicode');
  if (typeof complete !== 'boolean') return fail('complete', complete, 'true or false');
  let previous = 0;
  const unplaced: UnplacedWord[] = [];
  const read = (word: unknown, index: number): readonly TimedWord[] => {
    const field = `words[${index}]`;
    if (!isRecord(word)) return fail(field, word, 'an object');
    const { endMs, startMs, text: said } = word;
    if (!isWellFormed(said)) return fail(`${field}.text`, said, 'a text in valid Unicode');
    if (startMs === null && endMs === null) {
      unplaced.push({ text: said, index: index - unplaced.length });
      return [];
    }
    if (!isTime(startMs)) return fail(`${field}.startMs`, startMs, MILLISECONDS);
    if (!isTime(endMs)) return fail(`${field}.endMs`, endMs, MILLISECONDS);
    if (startMs < previous) {
      fail(`${field}.startMs`, startMs, `at least ${previous}, the start of the word before`);
    }
    if (endMs < startMs) fail(`${field}.endMs`, endMs, `at least "startMs", ${startMs}`);
    if (endMs > durationMs) fail(`${field}.endMs`, endMs, `at most "durationMs", ${durationMs}`);
    previous = startMs;
    return [{ text: said, startMs, endMs }];
  };
  const timed = words.flatMap(read);
  const rest = unplaced.length === 0 ? {} : { unplaced };
  return { version: 1, text, durationMs, complete, words: timed, ...rest };
}

const HINT = 'Use a file that `foley tts --timings FILE.json` created.';
const MILLISECONDS = 'milliseconds, a number of at least 0';

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum time or duration: a thousand hours. */
const LONGEST_MS = 1_000 * 3_600_000;

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_MS;
}

function isWellFormed(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Surrogate}/u.test(value);
}

const SHOWN_LENGTH = 40;

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  const json = JSON.stringify(value);
  return json.length > SHOWN_LENGTH ? `${json.slice(0, SHOWN_LENGTH)}…` : json;
}
