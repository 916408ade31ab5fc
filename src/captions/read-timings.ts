import { usageFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { TimedWord, Timings } from './timings.ts';

/**
 * The timings in a value that came out of JSON. Fields that this version
 * does not know are left alone; those that it knows must be right.
 *
 * @param shown how messages name the file
 * @throws Failure (usage) naming the file, the field, what it is and what it may be
 */
export function readTimings(value: unknown, shown: string): Timings {
  const document = record(value) ?? fail(shown, 'is not a JSON object', HINT);
  if (document['version'] !== 1) throw versionFailure(shown, document['version']);
  const field = <T>(name: string, check: (given: unknown) => T | undefined, allowed: string): T =>
    check(document[name]) ??
    fail(shown, `"${name}" is ${show(document[name])}; it takes ${allowed}`);
  const durationMs = field('durationMs', milliseconds, MILLISECONDS);
  const words = field('words', array, 'an array of {"text","startMs","endMs"}');
  return {
    version: 1,
    text: field('text', wellFormed, 'the text that was spoken, in valid Unicode'),
    durationMs,
    complete: field('complete', boolean, 'true or false'),
    words: readWords(words, durationMs, shown),
  };
}

const HINT = 'Timings are written by `foley tts --timings FILE.json`.';
const MILLISECONDS = 'milliseconds, a number of at least 0';

function readWords(words: readonly unknown[], durationMs: number, shown: string): TimedWord[] {
  let previous = 0;
  return words.map((given, index) => {
    const name = `"words[${index}]`;
    const word = record(given) ?? fail(shown, `${name}" is ${show(given)}; it takes an object`);
    const text = wellFormed(word['text']);
    if (text === undefined)
      throw wrong(shown, `${name}.text"`, word['text'], 'a text in valid Unicode');
    const startMs = milliseconds(word['startMs']);
    if (startMs === undefined)
      throw wrong(shown, `${name}.startMs"`, word['startMs'], MILLISECONDS);
    const endMs = milliseconds(word['endMs']);
    if (endMs === undefined) throw wrong(shown, `${name}.endMs"`, word['endMs'], MILLISECONDS);
    if (startMs < previous) {
      throw wrong(
        shown,
        `${name}.startMs"`,
        startMs,
        `at least ${previous}, where the word before begins`,
      );
    }
    if (endMs < startMs)
      throw wrong(shown, `${name}.endMs"`, endMs, `at least its own start, ${startMs}`);
    if (endMs > durationMs)
      throw wrong(shown, `${name}.endMs"`, endMs, `at most "durationMs", ${durationMs}`);
    previous = startMs;
    return { text, startMs, endMs };
  });
}

function versionFailure(shown: string, version: unknown): Failure {
  if (typeof version === 'number' && version > 1) {
    return usageFailure(
      `${shown} has version ${version} of timings; this foley reads version 1`,
      'Update foley, or have the timings written by this one.',
    );
  }
  return usageFailure(`${shown}: "version" is ${show(version)}; it takes 1`, HINT);
}

function wrong(shown: string, name: string, given: unknown, allowed: string): Failure {
  return usageFailure(`${shown}: ${name} is ${show(given)}; it takes ${allowed}`);
}

function fail(shown: string, what: string, hint?: string): never {
  throw usageFailure(what.startsWith('"') ? `${shown}: ${what}` : `${shown} ${what}`, hint);
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function array(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function boolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** A thousand hours are too long for any audio; much more would not survive being shown. */
const LONGEST_MS = 1_000 * 3_600_000;

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_MS ? value : undefined;
}

function wellFormed(value: unknown): string | undefined {
  return typeof value === 'string' && !LONE_SURROGATE.test(value) ? value : undefined;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

const SHOWN_LENGTH = 40;

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  const json = JSON.stringify(value);
  return json.length > SHOWN_LENGTH ? `${json.slice(0, SHOWN_LENGTH)}…` : json;
}
