import { linkWords } from './match-letters.ts';
import type { Link } from './match-letters.ts';
import { isOpening, beginsWithSign, isPicture, speakableLength } from './tokens.ts';
import type { Token } from './tokens.ts';
import type { TimedWord, Timings } from './timings.ts';

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
interface LinkedSpan extends Span {
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

/** What the service said, and for how long. */
interface Spoken {
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
function fillGaps(
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

/** A stretch of time in milliseconds. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * When things with these lengths are said, when together they are what the words of `spans`
 * say: one to one where there are as many of each, else in proportion to the lengths, so that
 * the pauses between the words stay where they are. Takes time linear in both.
 *
 * @param weights how long each takes to say, in any unit; not all 0
 */
function shareTime(weights: readonly number[], spans: readonly Span[]): Span[] {
  const spokenCount = weights.filter((weight) => weight > 0).length;
  const whole = sum(weights);
  const spoken = sum(spans.map(({ startMs, endMs }) => endMs - startMs));
  const [starts, ends] = [new SpokenTime(spans), new SpokenTime(spans)];
  const isPaired = spokenCount === spans.length;
  let before = 0;
  let index = 0;
  return weights.map((weight) => {
    if (isPaired && weight > 0) return spans[index++] ?? NOWHERE;
    const from = before;
    before += weight;
    if (isPaired) return after(spans[index - 1], spans[0]);
    return {
      startMs: (weight > 0 ? starts : ends).at((spoken * from) / whole, weight > 0),
      endMs: ends.at((spoken * before) / whole, false),
    };
  });
}

/** Sums of fractions are not exact. */
const HALF_MS = 0.5;

const NOWHERE: Span = { startMs: 0, endMs: 0 };

function after(before: Span | undefined, first: Span | undefined): Span {
  const ms = before?.endMs ?? first?.startMs ?? 0;
  return { startMs: ms, endMs: ms };
}

/** When so much of some spans has been said; it is asked for times that never decrease. */
class SpokenTime {
  readonly #spans: readonly Span[];
  #index = 0;
  /** Length of the spans before the current one. */
  #passedMs = 0;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  /**
   * The time when `spokenMs` of the spans have been said; where that is a pause, its end for
   * what begins then and its beginning for what ends.
   */
  at(spokenMs: number, begins: boolean): number {
    for (; this.#index < this.#spans.length; this.#index += 1) {
      const { startMs, endMs } = this.#spans[this.#index] ?? NOWHERE;
      const length = endMs - startMs;
      const left = spokenMs - this.#passedMs;
      if (begins ? left < length - HALF_MS : left <= length + HALF_MS) {
        return Math.min(endMs, startMs + left);
      }
      this.#passedMs += length;
    }
    return this.#spans.at(-1)?.endMs ?? 0;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
