import { usageFailure } from '../errors/failure.ts';
import { parseCues } from '../text/formats/cues.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import type { Cue } from './cue-shape.ts';
import { parseAss, parseLrc } from './read-karaoke.ts';
import { parseTtml } from './read-ttml.ts';
import { timedLines } from './timed-line.ts';
import type { TimedWord, Timings } from './timings.ts';
import { timingsOf } from './timings.ts';

/**
 * Reads the cues of a subtitle file, with the word times that the file has: SubRip, WebVTT, Advanced SubStation Alpha,
 * TTML or LRC, which the content tells. Leaves out formatting.
 * @param shown name of the file for messages
 * @throws Failure of kind `usage` for invalid times, and for a file in any other format
 */
export function readCues(content: string, shown: string): readonly Cue[] {
  const cues = readFrom(shown, () => cuesIn(content.replace(/^\ufeff/, '')));
  if (cues.length > 0) return cues.toSorted((a, b) => a.startMs - b.startMs);
  throw usageFailure(
    `${shown} has no cues of SubRip, WebVTT, Advanced SubStation Alpha, TTML or LRC`,
    'Use a subtitle file, or timings that `foley tts --timings FILE.json` created.',
  );
}

/**
 * Returns the result of `parse`.
 * @throws Failure of kind `usage` that names the file and the line, if `parse` throws a DocumentError
 */
export function readFrom<Result>(shown: string, parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const place = error.line === undefined ? shown : `${shown}, line ${error.line}`;
    throw usageFailure(`${place}: ${error.message}`, error.hint);
  }
}

/** Returns the parser of a subtitle file; undefined for SubRip and WebVTT. */
export function parserOf(content: string): ((content: string) => readonly Cue[]) | undefined {
  if (/^\ufeff?\s*\[Script Info\]/i.test(content) || /^Dialogue:/m.test(content)) return parseAss;
  if (/^\ufeff?\s*<(?:\?xml|!--|(?:[\w-]+:)?tt[\s>])/.test(content)) return parseTtml;
  if (/^\ufeff?\s*\[(?:\d|[a-z#]+:)/i.test(content)) return parseLrc;
  return undefined;
}

function cuesIn(content: string): readonly Cue[] {
  const parse = parserOf(content);
  if (parse !== undefined) return parse(content);
  return parseCues(content).map(({ endMs, rows, startMs }) => {
    const speaker = rows[0]?.spans[0]?.speaker;
    const lines = timedLines(rows.map(({ spans }) => spans.map((span) => ({ startMs, ...span }))));
    return { startMs, endMs, lines, ...(speaker === undefined ? {} : { speaker }) };
  });
}

/**
 * Creates timings from cues. Words without a time of their own share the duration of their cue by their lengths.
 * `complete` is true if every cue of several words has word times.
 */
export function timingsOfCues(cues: readonly Cue[]): Timings {
  const timed = cues.map((cue) => wordsOf(cue));
  const texts = cues.map((cue) => textOf(cue));
  const timings = timingsOf({
    text: texts.join('\n'),
    durationMs: cues.reduce((most, { endMs }) => Math.max(most, endMs), 0),
    complete: timed.every(({ isTimed }) => isTimed),
    words: timed.flatMap(({ words }) => words),
  });
  if (cues.every(({ speaker }) => speaker === undefined)) return timings;
  const lines = cues.map(({ endMs, speaker = '', startMs }, index) => {
    const words = timed[index]?.words.length ?? 0;
    return { speaker, text: texts[index] ?? '', startMs, endMs, words };
  });
  return { ...timings, lines };
}

function textOf({ lines }: Cue): string {
  return lines.flatMap((line) => line.map(({ gap, text }) => gap + text)).join('');
}

function wordsOf(cue: Cue): { readonly words: readonly TimedWord[]; readonly isTimed: boolean } {
  const words = cue.lines.flat();
  const isTimed = words.length < 2 || words.some(({ startMs }) => startMs !== cue.startMs);
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  const duration = cue.endMs - cue.startMs;
  let before = 0;
  const starts = words.map(({ startMs, text }) => {
    before += text.length;
    if (isTimed) return startMs;
    return cue.startMs + (duration * (before - text.length)) / letters;
  });
  return {
    isTimed,
    words: words.map(({ text }, index) => {
      const startMs = starts[index] ?? cue.startMs;
      return { text, startMs, endMs: starts[index + 1] ?? cue.endMs };
    }),
  };
}
