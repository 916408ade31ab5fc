/**
 * Where a sentence that is too long is cut: after a clause, between words, between letters. The
 * segmenters of `Intl` know words where no spaces are (Chinese, Japanese, Thai) and what is one letter.
 * They are made when they are needed, for to make one takes long.
 *
 * @param reach the last place that is allowed, behind `start`
 * @returns the last place of the best kind, or `reach`
 */
export function cutWithin(text: string, start: number, reach: number): number {
  // Looks beyond, since a mark and its space, a word or a letter may go on there.
  const seen = text.slice(start, reach + LOOK_AHEAD);
  const shortest = Math.floor((reach - start) * SHORTEST_PART);
  const most = reach - start;
  const cut =
    lastMark(seen, shortest, most) ??
    lastBoundary(words(), seen, shortest, most) ??
    lastBoundary(graphemes(), seen, 1, most) ??
    most;
  return start + cut;
}

const LOOK_AHEAD = 64;

/** A part that ends within a sentence is at least so much of the longest. */
const SHORTEST_PART = 0.5;

/** What ends a clause, strongest first; a comma between digits ends none. Then space between words. */
const MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*(?=\s)|\s[-–—]+(?=\s)|—|[；：。！？।]/gu,
  /[,)\]][\p{Pf}"']*(?=\s)|[，、،]/gu,
  /\S(?=\s)/gu,
] as const;

function lastMark(seen: string, shortest: number, most: number): number | undefined {
  for (const mark of MARKS) {
    let last: number | undefined;
    for (const match of seen.matchAll(mark)) {
      const end = match.index + match[0].length;
      if (end > most) break;
      if (end > shortest) last = end;
    }
    if (last !== undefined) return last;
  }
  return undefined;
}

/** The last place between two segments. */
function lastBoundary(
  segmenter: Intl.Segmenter,
  seen: string,
  shortest: number,
  most: number,
): number | undefined {
  let last: number | undefined;
  for (const { index } of segmenter.segment(seen)) {
    if (index > most) break;
    if (index >= Math.max(shortest, 1)) last = index;
  }
  return last;
}

let wordSegmenter: Intl.Segmenter | undefined;
let graphemeSegmenter: Intl.Segmenter | undefined;

function words(): Intl.Segmenter {
  return (wordSegmenter ??= new Intl.Segmenter('en', { granularity: 'word' }));
}

function graphemes(): Intl.Segmenter {
  return (graphemeSegmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' }));
}
