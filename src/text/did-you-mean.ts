/**
 * Returns up to `limit` candidates that resemble `given`, most similar first. A candidate resembles `given` if it begins
 * with `given`, or if their edit distance is at most a third of the length of `given`. Ignores case.
 */
export function closest(given: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = given.toLowerCase();
  if (wanted === '' || wanted.length > LONGEST_COMPARED) return [];
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const other = candidate.toLowerCase();
    const isPrefix = wanted.replace(/^-+/, '').length >= 3 && other.startsWith(wanted);
    const distance = isPrefix ? 1 : editDistance(wanted, other, allowed);
    if (distance <= allowed) near.push({ candidate, distance });
  }
  // Do not suggest several candidates for one or two letters, because nearly everything resembles them.
  if (wanted.length < 3 && near.length > 1) return [];
  return near
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Returns `Did you mean X?` with the most similar candidate. If none is similar, returns `otherwise`. */
export function nearestHint(
  given: string,
  candidates: Iterable<string>,
  otherwise?: string,
): string | undefined {
  const [nearest] = closest(given, candidates, 1);
  return nearest === undefined ? otherwise : `Did you mean ${nearest}?`;
}

const LONGEST_COMPARED = 64;

function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          at(last, j - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, j - 2) + 1 : Infinity,
        ),
      );
    }
    if (Math.min(...row) > most + 1) return most + 1;
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
