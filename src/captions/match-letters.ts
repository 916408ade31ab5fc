/** A match between a token and a word or a part of the word, by their indices. */
export interface Link {
  readonly token: number;
  readonly word: number;
  /** Start and end of the matched part of the word, as fractions of the word's length. */
  readonly from: number;
  readonly to: number;
}

/**
 * Matches the words that the service reports with the tokens of the text, in order. Compares single letters, because
 * words and tokens may be split differently. A token and a word match if at least half of the letters of each match.
 */
export function linkWords(tokens: readonly string[], words: readonly string[]): Link[] {
  const text = lettersOf(tokens);
  const spoken = lettersOf(words);
  const pairs: Pair[] = [];
  const whole = { left: 0, leftEnd: text.codes.length, right: 0, rightEnd: spoken.codes.length };
  matchStretch({ left: text.codes, right: spoken.codes }, whole, LONGEST_ANCHOR, (left, right) => {
    const token = text.owners[left] ?? 0;
    const word = spoken.owners[right] ?? 0;
    const last = pairs.at(-1);
    if (last?.token === token && last.word === word) {
      last.letters += 1;
      last.end = right + 1;
    } else {
      pairs.push({ token, word, letters: 1, start: right, end: right + 1 });
    }
  });
  return withMostLetters(pairs, text, spoken).map(({ token, word, start, end }) => {
    const first = spoken.starts[word] ?? 0;
    const length = lengthOf(spoken, word);
    return { token, word, from: (start - first) / length, to: (end - first) / length };
  });
}

interface Pair {
  readonly token: number;
  readonly word: number;
  letters: number;
  readonly start: number;
  end: number;
}

function withMostLetters(pairs: readonly Pair[], text: Letters, spoken: Letters): Pair[] {
  const inTokens = new Map<number, number>();
  const inWords = new Map<number, number>();
  for (const { token, word, letters } of pairs) {
    inTokens.set(token, (inTokens.get(token) ?? 0) + letters);
    inWords.set(word, (inWords.get(word) ?? 0) + letters);
  }
  return pairs.filter(
    ({ token, word }) =>
      2 * (inTokens.get(token) ?? 0) >= lengthOf(text, token) &&
      2 * (inWords.get(word) ?? 0) >= lengthOf(spoken, word),
  );
}

interface Letters {
  readonly codes: readonly number[];
  readonly owners: readonly number[];
  readonly starts: readonly number[];
}

function lettersOf(texts: readonly string[]): Letters {
  const codes: number[] = [];
  const owners: number[] = [];
  const starts = [0];
  for (const [owner, text] of texts.entries()) {
    const plain = text.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
    for (const letter of plain.match(/[\p{L}\p{N}]/gu) ?? []) {
      codes.push(letter.codePointAt(0) ?? 0);
      owners.push(owner);
    }
    starts.push(codes.length);
  }
  return { codes, owners, starts };
}

function lengthOf({ starts }: Letters, owner: number): number {
  return (starts[owner + 1] ?? 0) - (starts[owner] ?? 0);
}

interface LetterRows {
  readonly left: readonly number[];
  readonly right: readonly number[];
}

interface Stretch {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

type OnMatch = (left: number, right: number) => void;

const LONGEST_ANCHOR = 12;
const SHORTEST_ANCHOR = 3;
// Maximum product of two lengths to compare letter by letter; the computing time is proportional to this product.
const MOST_PAIRS = 250_000;

// The time is nearly proportional to the number of letters.
function matchStretch(rows: LetterRows, stretch: Stretch, length: number, onMatch: OnMatch): void {
  const { left, right } = rows;
  let { left: from, leftEnd: to, right: rightFrom, rightEnd: rightTo } = stretch;
  while (from < to && rightFrom < rightTo && left[from] === right[rightFrom]) {
    onMatch(from, rightFrom);
    from += 1;
    rightFrom += 1;
  }
  while (from < to && rightFrom < rightTo && left[to - 1] === right[rightTo - 1]) {
    to -= 1;
    rightTo -= 1;
  }
  const rest = { left: from, leftEnd: to, right: rightFrom, rightEnd: rightTo };
  if (from < to && rightFrom < rightTo) matchDifferent(rows, rest, length, onMatch);
  for (; to < stretch.leftEnd; to += 1, rightTo += 1) onMatch(to, rightTo);
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
  let found = anchors(rows, stretch, length);
  if (found.length === 0 && length > SHORTEST_ANCHOR) {
    matchDifferent(rows, stretch, Math.max(SHORTEST_ANCHOR, length - 3), onMatch);
    return;
  }
  // Without a run of letters that occurs once in both texts, splits both ranges in the middle.
  if (found.length === 0) found = [{ left: (left + leftEnd) >> 1, right: (right + rightEnd) >> 1 }];
  let from = { left, right };
  for (const anchor of [...found, { left: leftEnd, right: rightEnd }]) {
    const part = { ...from, leftEnd: anchor.left, rightEnd: anchor.right };
    matchStretch(rows, part, length, onMatch);
    from = anchor;
  }
}

interface Anchor {
  readonly left: number;
  readonly right: number;
}

function anchors({ left, right }: LetterRows, stretch: Stretch, length: number): Anchor[] {
  const leftPlaces = uniquePlaces(left, stretch.left, stretch.leftEnd, length);
  const rightPlaces = uniquePlaces(right, stretch.right, stretch.rightEnd, length);
  const pairs: Anchor[] = [];
  for (const [letters, place] of leftPlaces) {
    const other = rightPlaces.get(letters);
    if (place >= 0 && other !== undefined && other >= 0) pairs.push({ left: place, right: other });
  }
  return longestIncreasing(pairs);
}

function uniquePlaces(codes: readonly number[], from: number, to: number, length: number) {
  const places = new Map<string, number>();
  for (let at = from; at + length <= to; at += 1) {
    const letters = String.fromCodePoint(...codes.slice(at, at + length));
    places.set(letters, places.has(letters) ? -1 : at);
  }
  return places;
}

// `pairs` are sorted by `left`.
function longestIncreasing(pairs: readonly Anchor[]): Anchor[] {
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

const SAME = 2;
const SAME_AGAIN = 3;

const MATCH = 1;
const FROM_RUN = 2;
const SKIP_LEFT = 4;

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
