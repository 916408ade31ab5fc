import type { LinkedSpan } from './time-tokens.ts';
import { isOpening } from './opening.ts';
import { shareTime } from './share-time.ts';
import type { Span } from './share-time.ts';
import { beginsWithSign, isPicture, speakableLength } from './speakable.ts';
import type { TimedWord } from './timings.ts';
import type { Token } from './tokens.ts';

/** What the service said, and for how long. */
export interface Spoken {
  readonly words: readonly TimedWord[];
  readonly durationMs: number;
}

/** Tokens that were not found among the words, and the words there that were not found either. */
interface Gap {
  readonly tokens: readonly Token[];
  readonly words: readonly TimedWord[];
  /** Where the token before ends and the one after begins, or the audio. */
  readonly around: Span;
}

/**
 * A time for every token. Those that were not found share the time of the words that were not found at
 * the same place ("2026", said as "twenty twenty six"), or else the time between their neighbours.
 */
export function fillGaps(
  tokens: readonly Token[],
  linked: ReadonlyMap<number, LinkedSpan>,
  { words, durationMs }: Spoken,
): Span[] {
  const spans: Span[] = [];
  let from = 0;
  let word = 0;
  for (const index of [...linked.keys(), tokens.length]) {
    const next = linked.get(index);
    const gap: Gap = {
      tokens: tokens.slice(from, index),
      words: words.slice(word, next?.firstWord),
      around: { startMs: spans.at(-1)?.endMs ?? 0, endMs: next?.startMs ?? durationMs },
    };
    const weights = weightsOf(gap);
    const isSpoken = weights.some((weight) => weight > 0);
    const begin = spans.length;
    for (const span of isSpoken ? spokenGap(gap, weights) : silentGap(gap)) spans.push(span);
    const added = isSpoken ? undefined : extraTime(gap, tokens, index);
    if (added?.belongsTo === 'before' && begin > 0) {
      spans[begin - 1] = { startMs: spans[begin - 1]?.startMs ?? 0, endMs: added.span.endMs };
    }
    if (next !== undefined) {
      const startMs = added?.belongsTo === 'after' ? added.span.startMs : next.startMs;
      spans.push({ startMs, endMs: next.endMs });
      word = next.lastWord + 1;
    }
    from = index + 1;
  }
  return spans;
}

/** What is not spoken weighs nothing; where there are words and nothing else, pictures say them. */
function weightsOf({ tokens, words }: Gap): number[] {
  const weights = tokens.map(({ text }) => speakableLength(text));
  if (words.length === 0 || weights.some((weight) => weight > 0)) return weights;
  return tokens.map(({ text }) => (isPicture(text) ? 1 : 0));
}

function spokenGap({ tokens, words, around }: Gap, weights: readonly number[]): Span[] {
  const stretch = { startMs: around.startMs, endMs: Math.max(around.startMs, around.endMs) };
  return tokens.length === 0 ? [] : shareTime(weights, words.length === 0 ? [stretch] : words);
}

/** Closing signs and pictures stay with what was said last, opening ones go with what follows. */
function silentGap({ tokens, around }: Gap): Span[] {
  const opens = tokens.findIndex(({ text, lineBreaks }) => lineBreaks > 0 || isOpening(text));
  const isFirst = around.startMs === 0;
  return tokens.map((_, index) => {
    const goesOn = isFirst || (opens >= 0 && index >= opens);
    const ms = goesOn ? Math.max(around.startMs, around.endMs) : around.startMs;
    return { startMs: ms, endMs: ms };
  });
}

/** Words that no token is left for belong to a neighbour: "percent" to `50%`, "dollars" to `$5`. */
function extraTime({ words }: Gap, tokens: readonly Token[], next: number) {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const isAfter = next === 0 || beginsWithSign(tokens[next]?.text ?? '');
  const span = { startMs: first.startMs, endMs: last.endMs };
  return { belongsTo: isAfter ? 'after' : 'before', span } as const;
}
