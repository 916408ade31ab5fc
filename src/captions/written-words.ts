import type { AlignedWord } from '../contract/speech.ts';
import { CodePointSlicer, countCodePoints } from '../text/code-points.ts';
import type { Range, SpokenText } from '../text/document.ts';
import { writtenRanges } from '../text/document.ts';

// Number of UTF-16 units in which foley looks for the next word. Keeps the time proportional to the text.
const SEARCH_UNITS = 1_000;
const MISSING_UNITS = 32;
const FIRST_MISSING_UNITS = 100_000;
const COMPARED_UNITS = 64;

/**
 * Converts the timed words of spoken text, such as "twenty twenty-six", to the words of the document, such as "2026".
 * Document words share the time of the spoken words that they stand for.
 */
export function writtenWords(
  source: SpokenText,
  words: readonly AlignedWord[],
): readonly AlignedWord[] {
  if (source.replaced.length === 0) return words;
  const written = new CodePointSlicer(source.written);
  const results: AlignedWord[] = [];
  for (const { range, said } of groupWords(source, words)) {
    const shown =
      range === undefined ? said : share(wordsIn(written.slice(range.start, range.end)), said);
    for (const word of shown) results.push(word);
  }
  return results;
}

interface WordGroup {
  range: Range | undefined;
  readonly said: AlignedWord[];
}

function groupWords(source: SpokenText, words: readonly AlignedWord[]): WordGroup[] {
  const toWritten = writtenRanges(source);
  const groups: WordGroup[] = [];
  let next = 0;
  for (const { place, word } of placesOf(source.text, words)) {
    while ((source.replaced[next]?.spoken.end ?? Infinity) <= (place?.start ?? 0)) next += 1;
    const spoken = source.replaced[next]?.spoken;
    const isReplaced = place !== undefined && spoken !== undefined && spoken.start < place.end;
    const range = isReplaced ? toWritten(place) : undefined;
    const last = groups.at(-1);
    if (range !== undefined && last?.range !== undefined && range.start < last.range.end) {
      last.range = { start: last.range.start, end: range.end };
      last.said.push(word);
    } else {
      groups.push({ range, said: [word] });
    }
  }
  return groups;
}

// For a word that is not found, `place` (in code points) is undefined.
function* placesOf(text: string, words: readonly AlignedWord[]) {
  let at = 0;
  let count = 0;
  let budget = FIRST_MISSING_UNITS;
  for (const word of words) {
    budget += MISSING_UNITS;
    const near = text.slice(at, at + Math.min(budget, SEARCH_UNITS + COMPARED_UNITS));
    const found = near.indexOf(word.text.slice(0, COMPARED_UNITS));
    if (word.text === '' || found === -1 || !text.startsWith(word.text, at + found)) {
      budget -= near.length;
      yield { word, place: undefined };
      continue;
    }
    const start = count + countCodePoints(text.slice(at, at + found));
    count = start + countCodePoints(word.text);
    at += found + word.text.length;
    yield { word, place: { start, end: count } };
  }
}

function wordsIn(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function share(shown: readonly string[], said: readonly AlignedWord[]): AlignedWord[] {
  const [first, last] = [said[0], said.at(-1)];
  if (first === undefined || last === undefined) return [];
  const total = shown.reduce((sum, word) => sum + word.length, 0);
  const length = last.endMs - first.startMs;
  let done = 0;
  return shown.map((text, index) => {
    const same = shown.length === said.length ? said[index] : undefined;
    const startMs = same?.startMs ?? first.startMs + (length * done) / total;
    done += text.length;
    return { text, startMs, endMs: same?.endMs ?? first.startMs + (length * done) / total };
  });
}
