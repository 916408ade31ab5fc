import { fillGaps } from './fill-gaps.ts';
import { linkWords } from './links.ts';
import type { Link } from './links.ts';
import type { Span } from './share-time.ts';
import type { TimedWord, Timings } from './timings.ts';
import type { Token } from './tokens.ts';

/** A token of the text and when it is said, in whole milliseconds. */
export interface TimedToken extends Token {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * When each token of the text is said: as its words are, where they are found; between its
 * neighbours in proportion to its length, where they are not. What is not spoken has no time of its
 * own. Starts never decrease, and no token ends after the next one begins. Takes time nearly
 * linear in the text.
 */
export function timeTokens(tokens: readonly Token[], timings: Timings): TimedToken[] {
  const { durationMs, words } = timings;
  const links = linkWords(
    tokens.map(({ text }) => text),
    words.map(({ text }) => text),
  );
  const spans = fillGaps(tokens, linkedSpans(links, words), { words, durationMs });
  let latest = 0;
  const starts = spans.map(({ startMs }) => {
    latest = Math.min(durationMs, Math.max(latest, Math.round(startMs)));
    return latest;
  });
  return tokens.map((token, index) => {
    const startMs = starts[index] ?? 0;
    const nextMs = starts[index + 1] ?? durationMs;
    const endMs = Math.min(nextMs, Math.max(startMs, Math.round(spans[index]?.endMs ?? 0)));
    return { ...token, startMs, endMs };
  });
}

/** A token that was found among the words: when it is said, and from which word to which. */
export interface LinkedSpan extends Span {
  readonly firstWord: number;
  readonly lastWord: number;
}

/** From tokens to their times; a word that several tokens share is divided by its letters. */
function linkedSpans(
  links: readonly Link[],
  words: readonly TimedWord[],
): ReadonlyMap<number, LinkedSpan> {
  const spans = new Map<number, LinkedSpan>();
  for (const [index, link] of links.entries()) {
    const { startMs = 0, endMs = 0 } = words[link.word] ?? {};
    const length = endMs - startMs;
    const begins = links[index - 1]?.word !== link.word;
    const ends = links[index + 1]?.word !== link.word;
    const earlier = spans.get(link.token);
    spans.set(link.token, {
      startMs: earlier?.startMs ?? (begins ? startMs : startMs + length * link.from),
      endMs: ends ? endMs : startMs + length * link.to,
      firstWord: earlier?.firstWord ?? link.word,
      lastWord: link.word,
    });
  }
  return spans;
}
