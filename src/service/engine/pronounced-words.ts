import { codePointOffset, countCodePoints } from '../../text/code-points.ts';
import type { PronouncedSpan } from './speech-engine.ts';
import { TracedText } from './traced-text.ts';

/** A text as an engine reads it, and its words with given phonemes, in UTF-16 units. */
export interface PronouncedText {
  readonly traced: TracedText;
  readonly pronounced: readonly PronouncedSpan[];
}

/**
 * Rewrites a text in which some words have given phonemes. While the text is read, a plain word stands for each of them, so
 * that nothing is read into it.
 * @param spans the words, in code points of a longer text in which `text` begins at `start`
 */
export function readPronounced(
  { start, text }: { readonly text: string; readonly start: number },
  spans: readonly PronouncedSpan[],
  read: (text: TracedText) => TracedText,
): PronouncedText {
  const given = spans.length === 0 ? [] : inUnits(text, start, spans);
  if (given.length === 0) return { traced: read(new TracedText(text)), pronounced: [] };
  let standIn = 'pronounced';
  while (text.includes(standIn)) standIn += 'ly';
  const traced = read(new TracedText(text).substitute(given, () => standIn));
  const pronounced: PronouncedSpan[] = [];
  for (const { index } of traced.text.matchAll(new RegExp(standIn, 'g'))) {
    const end = index + standIn.length;
    const source = traced.source(index, end);
    const one = given.find((word) => source.start <= word.start && source.end >= word.end);
    if (one !== undefined) pronounced.push({ start: index, end, phonemes: one.phonemes });
  }
  return { traced, pronounced };
}

/** Puts the written words of a text in the place of those that stand for them. */
export function withWrittenWords(
  { pronounced, traced }: PronouncedText,
  written: string,
): PronouncedText {
  if (pronounced.length === 0) return { pronounced, traced };
  const words = pronounced.map(({ end, start }) => {
    const source = traced.source(start, end);
    return written.slice(source.start, source.end);
  });
  let moved = 0;
  return {
    traced: traced.substitute(pronounced, (index) => words[index] ?? ''),
    pronounced: pronounced.map(({ end, phonemes, start }, index) => {
      const length = words[index]?.length ?? 0;
      const from = start + moved;
      moved += length - (end - start);
      return { start: from, end: from + length, phonemes };
    }),
  };
}

/** Converts ranges of a text from UTF-16 units to code points. */
export function inCodePoints(
  text: string,
  spans: readonly PronouncedSpan[],
): readonly PronouncedSpan[] {
  let units = 0;
  let points = 0;
  const pointsAt = (unit: number): number => {
    points += countCodePoints(text.slice(units, unit));
    units = unit;
    return points;
  };
  return spans.map(({ end, phonemes, start }) => ({
    start: pointsAt(start),
    end: pointsAt(end),
    phonemes,
  }));
}

function inUnits(
  text: string,
  start: number,
  spans: readonly PronouncedSpan[],
): readonly PronouncedSpan[] {
  let points = start;
  let units = 0;
  const unitsAt = (point: number): number => {
    units = codePointOffset(text, point - points, units);
    points = point;
    return units;
  };
  const textEnd = start + countCodePoints(text);
  return spans
    .filter((span) => span.start >= start && span.end <= textEnd)
    .map(({ end, phonemes, start: from }) => ({
      start: unitsAt(from),
      end: unitsAt(end),
      phonemes,
    }));
}
