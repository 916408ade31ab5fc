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
  /** Whether every word has a time. */
  readonly complete: boolean;
  /** The words in text order. Starts never decrease, and no word ends after the next word starts. */
  readonly words: readonly TimedWord[];
  /** The words of the text that were not found in the audio, in text order. */
  readonly unplaced?: readonly UnplacedWord[];
  /** The lines of the script, for a recording with several speakers. Every timed word belongs to one line. */
  readonly lines?: readonly TimedLine[];
}

/** A line of a script that one speaker says, with its start and end in whole milliseconds. Lines may overlap. */
export interface TimedLine extends TimedWord {
  readonly speaker: string;
  /** Number of timed words in the line. `Timings.words` contains the words of all lines, one line after another. */
  readonly words: number;
}

/** A word of the text that was not found in the audio. */
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
  const { words, ...head } = timingsDocument(timings);
  const rows = words.map((word) => toJson(word));
  return `${toJson(head).slice(0, -1)},"words":[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]}\n`;
}

/** The JSON document of timings, which a `--timings` file contains. */
export interface TimingsDocument extends Omit<Timings, 'unplaced' | 'words'> {
  readonly words: readonly WordDocument[];
}

/** A word of the text. A word that was not found in the audio has null times. */
interface WordDocument {
  readonly text: string;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly speaker?: string;
}

/** Returns the JSON document of timings. Words that were not found in the audio have null times. */
export function timingsDocument({ unplaced = [], words, ...rest }: Timings): TimingsDocument {
  const rows: WordDocument[] = [];
  const speakers = rest.lines?.flatMap(({ speaker, words: count }) =>
    Array.from({ length: count }, () => ({ speaker })),
  );
  let next = 0;
  for (let index = 0; index <= words.length; index += 1) {
    for (; unplaced[next]?.index === index; next += 1) {
      rows.push({ text: unplaced[next]?.text ?? '', startMs: null, endMs: null });
    }
    const word = words[index];
    if (word !== undefined) {
      const { endMs, startMs, text } = word;
      rows.push({ text, startMs, endMs, ...speakers?.[index] });
    }
  }
  return { ...rest, words: rows };
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, Math.round(value)));
}

/**
 * Reads timings from a parsed JSON value. Ignores unknown fields.
 * @param shown name of the file for messages
 * @throws Failure of kind `usage` for a field with an invalid value
 */
export function readTimings(value: unknown, shown: string): Timings {
  const fail = (field: string, given: unknown, allowed: string): never => {
    throw usageFailure(`${shown}: "${field}" is ${show(given)}; use ${allowed}`);
  };
  if (!isRecord(value)) throw usageFailure(`${shown} is not a JSON object`, HINT);
  const { complete, durationMs, lines, text, version, words } = value;
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
  const count = words.filter((word) => !isRecord(word) || word['startMs'] !== null).length;
  const timedLines = lines === undefined ? undefined : readLines(lines, count, fail);
  const firstWords = new Set(firstWordsOf(timedLines ?? []));
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
    // Lines of a recording may overlap.
    if (firstWords.has(index - unplaced.length)) previous = 0;
    if (startMs < previous) {
      fail(`${field}.startMs`, startMs, `at least ${previous}, the start of the word before`);
    }
    if (endMs < startMs) fail(`${field}.endMs`, endMs, `at least "startMs", ${startMs}`);
    if (endMs > durationMs) fail(`${field}.endMs`, endMs, `at most "durationMs", ${durationMs}`);
    previous = startMs;
    return [{ text: said, startMs, endMs }];
  };
  const timed = words.flatMap(read);
  return {
    version: 1,
    text,
    durationMs,
    complete,
    words: timed,
    ...(unplaced.length === 0 ? {} : { unplaced }),
    ...(timedLines === undefined ? {} : { lines: timedLines }),
  };
}

/** Returns the index of the first word of each line. */
export function firstWordsOf(lines: readonly TimedLine[]): readonly number[] {
  let next = 0;
  return lines.map(({ words }) => (next += words) - words);
}

function readLines(
  value: unknown,
  wordCount: number,
  fail: (field: string, given: unknown, allowed: string) => never,
): readonly TimedLine[] {
  if (!Array.isArray(value)) return fail('lines', value, 'an array of the lines of a recording');
  const lines = value.map((line: unknown, index): TimedLine => {
    if (!isRecord(line)) return fail(`lines[${index}]`, line, 'an object');
    const { endMs, speaker, startMs, text, words } = line;
    const isCount = typeof words === 'number' && Number.isInteger(words) && words >= 0;
    const isLine = isWellFormed(speaker) && isWellFormed(text) && isTime(startMs) && isTime(endMs);
    return isLine && isCount
      ? { speaker, text, startMs, endMs, words }
      : fail(`lines[${index}]`, line, 'the fields speaker, text, startMs, endMs and words');
  });
  const count = lines.reduce((sum, { words }) => sum + words, 0);
  return count === wordCount ? lines : fail('lines', count, `lines with ${wordCount} words in all`);
}

const HINT = 'Use a file that `foley tts --timings FILE.json` created.';
const MILLISECONDS = 'milliseconds, a number of at least 0';

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
