/** A match of a token with a word, or of their parts. */
export interface Link {
  readonly token: number;
  readonly word: number;
  /** The part of the word, from 0 to 1. */
  readonly from: number;
  readonly to: number;
}

/**
 * Matches the words of a service with the tokens of the text, in the order of both. Compares letters, as either side may
 * split or join words. A match needs at least half of the letters on both sides.
 */
export function linkWords(tokens: readonly string[], words: readonly string[]): Link[] {
  const text = lettersOf(tokens);
  const spoken = lettersOf(words);
  const pairs: Pair[] = [];
  const offsets = offsetsInOwner(spoken.owners);
  matchLetters({ left: text.codes, right: spoken.codes }, (left, right) => {
    const token = text.owners[left] ?? 0;
    const word = spoken.owners[right] ?? 0;
    const offset = offsets[right] ?? 0;
    const last = pairs.at(-1);
    if (last?.token !== token || last.word !== word) {
      pairs.push({ token, word, letters: 1, first: offset, last: offset });
    } else {
      last.letters += 1;
      last.last = offset;
    }
  });
  return solid(pairs, text.counts, spoken.counts).map(({ token, word, first, last }) => {
    const length = spoken.counts[word] ?? 1;
    return { token, word, from: first / length, to: (last + 1) / length };
  });
}

interface Pair {
  readonly token: number;
  readonly word: number;
  letters: number;
  readonly first: number;
  last: number;
}

/** Filters pairs whose token and whose word were matched for at least a half. */
function solid(pairs: readonly Pair[], tokenSizes: Int32Array, wordSizes: Int32Array): Pair[] {
  const inTokens = new Int32Array(tokenSizes.length);
  const inWords = new Int32Array(wordSizes.length);
  for (const { token, word, letters } of pairs) {
    inTokens[token] = (inTokens[token] ?? 0) + letters;
    inWords[word] = (inWords[word] ?? 0) + letters;
  }
  return pairs.filter(
    ({ token, word }) =>
      2 * (inTokens[token] ?? 0) >= (tokenSizes[token] ?? 0) &&
      2 * (inWords[word] ?? 0) >= (wordSizes[word] ?? 0),
  );
}

/** Returns the index of each letter within its own text. */
function offsetsInOwner(owners: Int32Array): Int32Array {
  const offsets = new Int32Array(owners.length);
  for (let index = 1; index < owners.length; index += 1) {
    if (owners[index] === owners[index - 1]) offsets[index] = (offsets[index - 1] ?? 0) + 1;
  }
  return offsets;
}

/** The letters and digits of texts, each with the index of its text. */
interface Letters {
  /** Code points in lower case, without accents and presentation forms. */
  readonly codes: Int32Array;
  readonly owners: Int32Array;
  /** How many letters each text has. */
  readonly counts: Int32Array;
}

function lettersOf(texts: readonly string[]): Letters {
  const codes: number[] = [];
  const owners: number[] = [];
  const counts = new Int32Array(texts.length);
  for (const [owner, text] of texts.entries()) {
    const before = codes.length;
    for (const letter of plain(text)) {
      const code = letter.codePointAt(0) ?? 0;
      if (code < 0x80 ? !isAsciiLetter(code) : !LETTER.test(letter)) continue;
      codes.push(code);
      owners.push(owner);
    }
    counts[owner] = codes.length - before;
  }
  return { codes: Int32Array.from(codes), owners: Int32Array.from(owners), counts };
}

const LETTER = /[\p{L}\p{N}]/u;
const ASCII = /^[\0-\x7f]*$/;

function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function plain(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
}

/** Two sequences of letters. */
interface LetterRows {
  readonly left: Int32Array;
  readonly right: Int32Array;
}

/** A range of both sequences; the ends are exclusive. */
interface Stretch {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

/** Called with the indices of matching letters, both in increasing order. */
type OnMatch = (left: number, right: number) => void;

/**
 * Matches the letters of two sequences in order: the common beginning and end, then what is unique in both, then, in
 * between, the longest runs. Takes nearly linear time, as only short ranges are compared pairwise.
 */
function matchLetters(rows: LetterRows, onMatch: OnMatch): void {
  const whole = { left: 0, leftEnd: rows.left.length, right: 0, rightEnd: rows.right.length };
  matchStretch(rows, whole, LONGEST_ANCHOR, onMatch);
}

const LONGEST_ANCHOR = 12;
const SHORTEST_ANCHOR = 3;
/** The most pairs of letters for a pairwise comparison. */
const MOST_PAIRS = 250_000;

function matchStretch(rows: LetterRows, stretch: Stretch, length: number, onMatch: OnMatch): void {
  const { left, right } = rows;
  let { left: from, leftEnd: to, right: rightFrom, rightEnd: rightTo } = stretch;
  while (from < to && rightFrom < rightTo && left[from] === right[rightFrom]) {
    onMatch(from, rightFrom);
    from += 1;
    rightFrom += 1;
  }
  let tail = 0;
  while (
    from < to - tail &&
    rightFrom < rightTo - tail &&
    left[to - tail - 1] === right[rightTo - tail - 1]
  ) {
    tail += 1;
  }
  to -= tail;
  rightTo -= tail;
  const rest = { left: from, leftEnd: to, right: rightFrom, rightEnd: rightTo };
  if (from < to && rightFrom < rightTo) matchDifferent(rows, rest, length, onMatch);
  for (let index = 0; index < tail; index += 1) onMatch(to + index, rightTo + index);
}

function matchDifferent(
  rows: LetterRows,
  stretch: Stretch,
  length: number,
  onMatch: OnMatch,
): void {
  const { left, leftEnd, right, rightEnd } = stretch;
  if ((leftEnd - left) * (rightEnd - right) <= MOST_PAIRS) {
    commonRuns(rows, stretch, onMatch);
    return;
  }
  const found = anchors(rows, stretch, length);
  if (found.length > 0) {
    let from = { left, right };
    for (const anchor of [...found, { left: leftEnd, right: rightEnd }]) {
      const part = { ...from, leftEnd: anchor.left, rightEnd: anchor.right };
      matchStretch(rows, part, length, onMatch);
      from = anchor;
    }
    return;
  }
  if (length > SHORTEST_ANCHOR) {
    matchDifferent(rows, stretch, Math.max(SHORTEST_ANCHOR, length - 3), onMatch);
    return;
  }
  // Without anchors, one place is as good as another.
  const middle = { left: (left + leftEnd) >> 1, right: (right + rightEnd) >> 1 };
  matchStretch(
    rows,
    { left, right, leftEnd: middle.left, rightEnd: middle.right },
    length,
    onMatch,
  );
  matchStretch(rows, { ...middle, leftEnd, rightEnd }, length, onMatch);
}

/** A place in both sequences. */
interface Anchor {
  readonly left: number;
  readonly right: number;
}

/**
 * Finds places with the same `length` letters, unique in both sequences but for hash collisions, in the longest common
 * order. Takes n log n time.
 */
function anchors({ left, right }: LetterRows, stretch: Stretch, length: number): Anchor[] {
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

/** Spreads hashes over 32 bits. */
const SPREAD = 0x9e3779b1;

/** Maps hashes of letters to their place, or to -1 when there are several. */
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
    // Small integers need no allocation.
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

/** Returns the longest subsequence with increasing `right` of pairs that are sorted by `left`. */
function longestIncreasing(pairs: readonly Anchor[]): Anchor[] {
  /** For each length, the pair with the smallest `right` that ends a subsequence of it. */
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

/** Scores of a matching letter, and of one that continues a run. */
const SAME = 2;
const SAME_AGAIN = 3;

const MATCH = 1;
const FROM_RUN = 2;
const SKIP_LEFT = 4;

/** Matches the best common subsequence, with a bonus for runs. Takes time and memory of the product of both lengths. */
function commonRuns({ left, right }: LetterRows, stretch: Stretch, onMatch: OnMatch): void {
  const rows = stretch.leftEnd - stretch.left;
  const columns = stretch.rightEnd - stretch.right;
  const steps = new Uint8Array(rows * columns);
  let best = new Int32Array(columns + 1);
  let run = new Int32Array(columns + 1).fill(NEVER);
  for (let row = 0; row < rows; row += 1) {
    const nextBest = new Int32Array(columns + 1);
    const nextRun = new Int32Array(columns + 1).fill(NEVER);
    for (let column = 0; column < columns; column += 1) {
      let step = 0;
      let score = nextBest[column] ?? 0;
      const above = best[column + 1] ?? 0;
      if (above > score) {
        score = above;
        step = SKIP_LEFT;
      }
      if (left[stretch.left + row] === right[stretch.right + column]) {
        const fresh = (best[column] ?? 0) + SAME;
        const again = (run[column] ?? NEVER) + SAME_AGAIN;
        const matched = Math.max(fresh, again);
        nextRun[column + 1] = matched;
        if (again >= fresh) step |= FROM_RUN;
        if (matched >= score) {
          score = matched;
          step |= MATCH;
        }
      }
      nextBest[column + 1] = score;
      steps[row * columns + column] = step;
    }
    best = nextBest;
    run = nextRun;
  }
  trace(steps, columns, stretch, onMatch);
}

const NEVER = -1_000_000;

function trace(steps: Uint8Array, columns: number, stretch: Stretch, onMatch: OnMatch): void {
  const found: number[] = [];
  let row = stretch.leftEnd - stretch.left - 1;
  let column = columns - 1;
  let isRun = false;
  while (row >= 0 && column >= 0) {
    const step = steps[row * columns + column] ?? 0;
    if (isRun || (step & MATCH) !== 0) {
      found.push(row, column);
      isRun = (step & FROM_RUN) !== 0;
      row -= 1;
      column -= 1;
    } else if ((step & SKIP_LEFT) !== 0) row -= 1;
    else column -= 1;
  }
  for (let index = found.length - 2; index >= 0; index -= 2) {
    onMatch(stretch.left + (found[index] ?? 0), stretch.right + (found[index + 1] ?? 0));
  }
}
