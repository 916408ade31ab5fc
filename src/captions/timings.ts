import { toJson } from '../text/display.ts';

/** A word of a text and when it is said, in whole milliseconds from the beginning of the audio. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** What a `--timings` file holds. */
export interface Timings {
  readonly version: 1;
  /** What was spoken, exactly as it was submitted. */
  readonly text: string;
  /** Length of the audio. */
  readonly durationMs: number;
  /** Whether the service timed all of it. */
  readonly complete: boolean;
  /** In the order of the text; starts never decrease, and no word ends after the next one begins. */
  readonly words: readonly TimedWord[];
}

/** What is known of an audio and its words, as a service tells it. */
export type ToldTimings = Omit<Timings, 'version'>;

/**
 * The document for what a service told. Services round, and their words may overlap by a breath
 * or end after the last sample; times are made whole milliseconds within the audio, in order.
 */
export function timingsOf({ text, durationMs, complete, words }: ToldTimings): Timings {
  const length = Math.max(0, Math.ceil(durationMs));
  let earliest = 0;
  const starts = words.map(({ startMs }) => {
    earliest = within(startMs, earliest, length);
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
        endMs: within(word.endMs, startMs, starts[index + 1] ?? length),
      };
    }),
  };
}

/** The bytes of a `--timings` file: JSON with a word on each line, UTF-8, LF. */
export function timingsFile({ words, ...rest }: Timings): string {
  const head = toJson(rest).slice(0, -1);
  const rows = words.map(({ text, startMs, endMs }) => toJson({ text, startMs, endMs }));
  return `${head},"words":[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]}\n`;
}

function within(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, Math.round(value)));
}
