/** A stretch of time in milliseconds. */
export interface Span {
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
export function shareTime(weights: readonly number[], spans: readonly Span[]): Span[] {
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
