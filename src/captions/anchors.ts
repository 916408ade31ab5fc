import type { LetterRows, Stretch } from './match-letters.ts';

/** A place in both rows. */
export interface Anchor {
  readonly left: number;
  readonly right: number;
}

/**
 * Places where both rows have the same `length` letters, which are nowhere else in either, in the
 * longest order that is the same in both. Takes time n log n in the length of the stretch. Letters
 * that happen to have the hash of others count as the same when they are looked for elsewhere.
 */
export function anchors({ left, right }: LetterRows, stretch: Stretch, length: number): Anchor[] {
  const leftPlaces = uniquePlaces(left, stretch.left, stretch.leftEnd, length);
  const rightPlaces = uniquePlaces(right, stretch.right, stretch.rightEnd, length);
  const pairs: Anchor[] = [];
  for (const [key, place] of leftPlaces) {
    const other = rightPlaces.get(key);
    if (place < 0 || other === undefined || other < 0) continue;
    if (isSame(left, place, right, other, length)) pairs.push({ left: place, right: other });
  }
  return longestIncreasing(pairs);
}

/** A multiplier that spreads hashes over 32 bits. */
const SPREAD = 0x9e3779b1;

/** From the hash of the letters to where they are, or -1 when they are at several places. */
function uniquePlaces(codes: Int32Array, from: number, to: number, length: number) {
  const places = new Map<number, number>();
  let leaving = 1;
  for (let count = 0; count < length; count += 1) leaving = Math.imul(leaving, SPREAD);
  let hash = 0;
  for (let at = from; at < to; at += 1) {
    hash = Math.imul(hash, SPREAD) + (codes[at] ?? 0);
    const start = at - length + 1;
    if (start > from) hash -= Math.imul(leaving, codes[start - 1] ?? 0);
    hash |= 0;
    if (start < from) continue;
    // Small integers take no memory of their own.
    const key = hash >> 1;
    places.set(key, places.has(key) ? -1 : start);
  }
  return places;
}

function isSame(
  left: Int32Array,
  leftAt: number,
  right: Int32Array,
  rightAt: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index += 1) {
    if (left[leftAt + index] !== right[rightAt + index]) return false;
  }
  return true;
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
