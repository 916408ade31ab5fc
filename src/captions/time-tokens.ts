import { linkWords } from './match-letters.ts';
import type { Link } from './match-letters.ts';
import { isOpening, beginsWithSign, hasSymbol, speakableLength } from './tokens.ts';
import type { CaptionToken } from './tokens.ts';
import type { TimedWord, Timings } from './timings.ts';

/** A token with its start and end in the audio, in whole milliseconds. */
export interface TimedToken extends CaptionToken {
  readonly startMs: number;
  readonly endMs: number;
  /** Whether the timings have a word for this token. If not, its time is a guess. */
  readonly isFound: boolean;
}

/**
 * Adds a start and an end time to each token, taken from the timed words that match the token. Tokens without a match
 * share the time between their neighbours. Before the first and after the last match, they are spoken at the usual rate,
 * beside that match. Tokens that are not spoken get a duration of 0 ms. Start times never decrease, and tokens never
 * overlap.
 */
export function timeTokens(tokens: readonly CaptionToken[], timings: Timings): TimedToken[] {
  const { durationMs, words } = timings;
  const spans = fillGaps(tokens, linkedSpans(timedLinks(tokens, timings), words), timings);
  let latest = 0;
  const starts = spans.map(({ startMs }) => {
    latest = Math.min(durationMs, Math.max(latest, Math.round(startMs)));
    return latest;
  });
  return tokens.map((token, index) => {
    const startMs = starts[index] ?? 0;
    const nextMs = starts[index + 1] ?? durationMs;
    const endMs = Math.min(nextMs, Math.max(startMs, Math.round(spans[index]?.endMs ?? 0)));
    return { ...token, startMs, endMs, isFound: spans[index]?.isFound === true };
  });
}

// Words without times are matched too, so that their tokens do not match other words.
function timedLinks(
  tokens: readonly CaptionToken[],
  { unplaced = [], words }: Timings,
): readonly Link[] {
  const texts: string[] = [];
  const timed: number[] = [];
  let next = 0;
  for (let index = 0; index <= words.length; index += 1) {
    for (; unplaced[next]?.index === index; next += 1) {
      timed.push(-1);
      texts.push(unplaced[next]?.text ?? '');
    }
    const word = words[index];
    if (word === undefined) break;
    timed.push(index);
    texts.push(word.text);
  }
  const links = linkWords(
    tokens.map(({ text }) => text),
    texts,
  );
  return links.flatMap((link) => {
    const word = timed[link.word] ?? -1;
    return word === -1 ? [] : [{ ...link, word }];
  });
}

interface LinkedSpan extends Span {
  readonly firstWord: number;
  readonly lastWord: number;
}

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

interface FilledSpan extends Span {
  readonly isFound: boolean;
}

interface Gap {
  readonly tokens: readonly CaptionToken[];
  readonly words: readonly TimedWord[];
  readonly around: Span;
  /** The word after the gap; undefined at the end of the text. */
  readonly next: CaptionToken | undefined;
}

// "2026" is spoken as "twenty twenty six": the token shares the time of the words that match no token.
function fillGaps(
  tokens: readonly CaptionToken[],
  linked: ReadonlyMap<number, LinkedSpan>,
  { words, durationMs }: Timings,
): FilledSpan[] {
  const spans: FilledSpan[] = [];
  const letterMs = usualLetterMs(tokens, linked);
  let from = 0;
  let word = 0;
  for (const index of [...linked.keys(), tokens.length]) {
    const next = linked.get(index);
    const gap: Gap = {
      tokens: tokens.slice(from, index),
      words: words.slice(word, next?.firstWord),
      around: { startMs: spans.at(-1)?.endMs ?? 0, endMs: next?.startMs ?? durationMs },
      next: tokens[index],
    };
    const weights = weightsOf(gap);
    const isSpoken = weights.some((weight) => weight > 0);
    const begin = spans.length;
    const around = nearMatch(gap.around, sum(weights) * letterMs, {
      isFirst: begin === 0,
      isLast: next === undefined,
    });
    const added = isSpoken ? spokenGap({ ...gap, around }, weights) : silentGap(gap);
    const isFound = gap.words.length > 0;
    for (const span of added) spans.push({ ...span, isFound });
    const extra = isSpoken ? undefined : extraTime(gap, tokens, index);
    if (extra?.belongsTo === 'before' && begin > 0) {
      const startMs = spans[begin - 1]?.startMs ?? 0;
      spans[begin - 1] = { startMs, endMs: extra.span.endMs, isFound: true };
    }
    if (next !== undefined) {
      const startMs = extra?.belongsTo === 'after' ? extra.span.startMs : next.startMs;
      spans.push({ startMs, endMs: next.endMs, isFound: true });
      word = next.lastWord + 1;
    }
    from = index + 1;
  }
  return spans;
}

// Matched words end before the pauses that follow them; words without a match need time for pauses too.
const PAUSES = 1.25;
// Fast speech has 20 letters a second.
const LEAST_LETTER_MS = 50;

function usualLetterMs(
  tokens: readonly CaptionToken[],
  linked: ReadonlyMap<number, LinkedSpan>,
): number {
  const spokenMs = sum(Array.from(linked.values(), ({ endMs, startMs }) => endMs - startMs));
  const letters = sum(Array.from(linked.keys(), (at) => speakableLength(tokens[at]?.text ?? '')));
  return Math.max(LEAST_LETTER_MS, (PAUSES * spokenMs) / letters);
}

function nearMatch(
  { endMs, startMs }: Span,
  neededMs: number,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): Span {
  if (isFirst === isLast || !(neededMs < endMs - startMs)) return { startMs, endMs };
  return isFirst ? { startMs: endMs - neededMs, endMs } : { startMs, endMs: startMs + neededMs };
}

function weightsOf({ tokens, words }: Gap): number[] {
  const weights = tokens.map(({ text }) => speakableLength(text));
  if (words.length === 0 || weights.some((weight) => weight > 0)) return weights;
  return tokens.map(({ text }) => (hasSymbol(text) ? 1 : 0));
}

function spokenGap({ tokens, words, around }: Gap, weights: readonly number[]): Span[] {
  const stretch = { startMs: around.startMs, endMs: Math.max(around.startMs, around.endMs) };
  return tokens.length === 0 ? [] : shareTime(weights, words.length === 0 ? [stretch] : words);
}

function silentGap({ tokens, around, next }: Gap): Span[] {
  // Signs on lines of their own, such as `* * *`, end what is before them.
  const isApart = next === undefined || next.lineBreaks > 0;
  const opens = isApart
    ? -1
    : tokens.findIndex(({ text, lineBreaks }) => lineBreaks > 0 || isOpening(text));
  const isFirst = around.startMs === 0;
  return tokens.map((_, index) => {
    const isBeforeNext = isFirst || (opens >= 0 && index >= opens);
    const ms = isBeforeNext ? Math.max(around.startMs, around.endMs) : around.startMs;
    return { startMs: ms, endMs: ms };
  });
}

function extraTime({ words }: Gap, tokens: readonly CaptionToken[], next: number) {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const isAfter = next === 0 || beginsWithSign(tokens[next]?.text ?? '');
  const span = { startMs: first.startMs, endMs: last.endMs };
  return { belongsTo: isAfter ? 'after' : 'before', span } as const;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

function shareTime(weights: readonly number[], spans: readonly Span[]): Span[] {
  const spokenCount = weights.filter((weight) => weight > 0).length;
  const whole = sum(weights);
  const spoken = sum(spans.map(({ startMs, endMs }) => endMs - startMs));
  const [starts, ends] = [new SpokenTime(spans), new SpokenTime(spans)];
  const isPaired = spokenCount === spans.length;
  let before = 0;
  let index = 0;
  return weights.map((weight) => {
    if (isPaired && weight > 0) return spans[index++] ?? DISCARD;
    const from = before;
    before += weight;
    if (isPaired) return after(spans[index - 1], spans[0]);
    return {
      startMs: (weight > 0 ? starts : ends).at((spoken * from) / whole, weight > 0),
      endMs: ends.at((spoken * before) / whole, false),
    };
  });
}

const HALF_MS = 0.5;

const DISCARD: Span = { startMs: 0, endMs: 0 };

function after(before: Span | undefined, first: Span | undefined): Span {
  const ms = before?.endMs ?? first?.startMs ?? 0;
  return { startMs: ms, endMs: ms };
}

class SpokenTime {
  readonly #spans: readonly Span[];
  #index = 0;
  #passedMs = 0;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  at(spokenMs: number, begins: boolean): number {
    for (; this.#index < this.#spans.length; this.#index += 1) {
      const { startMs, endMs } = this.#spans[this.#index] ?? DISCARD;
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
