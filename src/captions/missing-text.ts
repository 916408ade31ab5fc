import { counted, display } from '../text/display.ts';
import type { Boundary } from './boundaries.ts';
import type { TimedToken } from './time-tokens.ts';
import type { Timings, UnplacedWord } from './timings.ts';
import { speakableLength } from './tokens.ts';

interface BoundedTokens {
  readonly tokens: readonly TimedToken[];
  /** The boundary after each token. */
  readonly boundaries: readonly Boundary[];
}

/**
 * Leaves out text that is not in the recording: several words, or whole sentences, that were not found and for which
 * there is no time. Their cues would only flash. A single word stays: its sentence would be wrong without it.
 */
export function leaveOutMissing(
  { boundaries, tokens }: BoundedTokens,
  { durationMs, unplaced = [] }: Timings,
): BoundedTokens {
  if (unplaced.length === 0) return { boundaries, tokens };
  const letterMs = spokenLetterMs(tokens);
  const isLeftOut = new Uint8Array(tokens.length);
  const ends = new Set<number>();
  for (const { from, to } of missingRuns(tokens)) {
    const run = tokens.slice(from, to);
    const beganMs = tokens[from - 1]?.endMs ?? 0;
    const timeMs = (tokens[to]?.startMs ?? durationMs) - beganMs;
    const letters = run.reduce((sum, { text }) => sum + speakableLength(text), 0);
    const words = run.filter(({ text }) => speakableLength(text) > 0).length;
    const isWhole = [from, to].every((at) => isSentenceEnd(boundaries[at - 1]));
    if ((words < LEAST_WORDS && !isWhole) || timeMs >= LEAST_TIME * letters * letterMs) continue;
    isLeftOut.fill(1, from, to);
    ends.add(from - 1);
  }
  const isShown = (_: unknown, index: number): boolean => isLeftOut[index] === 0;
  return {
    tokens: tokens.filter(isShown),
    // A cue ends where text is left out.
    boundaries: boundaries
      .map((boundary, at): Boundary => (ends.has(at) ? { ...boundary, kind: 'line' } : boundary))
      .filter(isShown),
  };
}

// Fewer words are often spoken, although they were not found.
const LEAST_WORDS = 4;
// Of the time that the text takes at the usual rate of the recording.
const LEAST_TIME = 0.7;

interface MissingRun {
  readonly from: number;
  readonly to: number;
}

// Stretches of tokens that were not found, without the signs at both ends.
function missingRuns(tokens: readonly TimedToken[]): MissingRun[] {
  const runs: MissingRun[] = [];
  let from = -1;
  let to = -1;
  for (const [index, { isFound, text }] of tokens.entries()) {
    if (isFound) {
      if (from !== -1) runs.push({ from, to });
      from = -1;
    } else if (speakableLength(text) > 0) {
      if (from === -1) from = index;
      to = index + 1;
    }
  }
  return from === -1 ? runs : [...runs, { from, to }];
}

function isSentenceEnd(boundary: Boundary | undefined): boolean {
  return boundary === undefined || boundary.kind === 'line' || boundary.kind === 'sentence';
}

function spokenLetterMs(tokens: readonly TimedToken[]): number {
  const found = tokens.filter(({ isFound }) => isFound);
  const letters = found.reduce((sum, { text }) => sum + speakableLength(text), 0);
  const spokenMs = found.reduce((sum, { endMs, startMs }) => sum + endMs - startMs, 0);
  return letters === 0 ? 0 : spokenMs / letters;
}

/** Returns a sentence that names the words which were not found in the recording; undefined if all were found. */
export function describeMissing({ unplaced = [], words }: Timings): string | undefined {
  if (unplaced.length === 0) return undefined;
  const stretches = new Map<number, UnplacedWord[]>();
  for (const word of unplaced) {
    const stretch = stretches.get(word.index) ?? [];
    stretches.set(word.index, stretch);
    stretch.push(word);
  }
  const all = [...stretches.values()];
  const longest = new Set(all.toSorted((a, b) => b.length - a.length).slice(0, MOST_NAMED));
  const named = all
    .filter((one) => longest.has(one))
    .map((one) => `${counted(one.length, 'word')} ${placeOf(one, words)} (${excerpt(one)})`);
  const others = all.length - named.length;
  const more = others === 0 ? '' : ` and in ${counted(others, 'other place')}`;
  const total = unplaced.length + words.length;
  return `${unplaced.length} of ${total} words were not found in the recording: ${named.join(', ')}${more}`;
}

const MOST_NAMED = 5;

function placeOf([first]: readonly UnplacedWord[], words: Timings['words']): string {
  const before = first?.index ?? 0;
  if (before === 0) return 'at the start';
  if (before === words.length) return 'at the end';
  return `after ${clockTime(words[before - 1]?.endMs ?? 0)}`;
}

function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;
}

function excerpt(words: readonly UnplacedWord[]): string {
  const texts = words.map(({ text }) => text);
  const ends = [...texts.slice(0, EDGE_WORDS), '…', ...texts.slice(-EDGE_WORDS)];
  return `"${display((texts.length > 2 * EDGE_WORDS + 1 ? ends : texts).join(' '))}"`;
}

const EDGE_WORDS = 4;
