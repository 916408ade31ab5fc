import type { LetterRows, Stretch } from './match-letters.ts';

/** A place in both rows. */
export interface Anchor {
  readonly left: number;
  readonly right: number;
}

/**
 * Places where both rows have the same `length` letters, which are nowhere else in either, in the
 * longest order that is the same in both. Takes time n log n in the length of the stretch.
 */
export function anchors({ left, right }: LetterRows, stretch: Stretch, length: number): Anchor[] {
  const leftPlaces = uniquePlaces(left, stretch.left, stretch.leftEnd, length);
  const rightPlaces = uniquePlaces(right, stretch.right, stretch.rightEnd, length);
  const pairs: Anchor[] = [];
  for (const [key, place] of leftPlaces) {
    const other = rightPlaces.get(key);
    if (place >= 0 && other !== undefined && other >= 0) pairs.push({ left: place, right: other });
  }
  return longestIncreasing(pairs);
}

/** From the letters to where they are, or -1 when they are at several places. */
function uniquePlaces(codes: Int32Array, from: number, to: number, length: number) {
  const places = new Map<string, number>();
  for (let at = from; at + length <= to; at += 1) {
    const key = String.fromCodePoint(...codes.subarray(at, at + length));
    places.set(key, places.has(key) ? -1 : at);
  }
  return places;
}

/** Of pairs that are sorted by `left`, the longest row in which `right` grows too. */
function longestIncreasing(pairs: readonly Anchor[]): Anchor[] {
  /** For each length, the pair with the smallest `right` that ends a row of it. */
  const ends: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  for (const [index, { right }] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.right ?? 0) < right) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] ?? -1);
    ends[low] = index;
  }
  const row: Anchor[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) row.push(pair);
  }
  return row.reverse();
}
