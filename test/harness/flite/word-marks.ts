import { countCodePoints } from '../../../src/text/code-points.ts';
import type { WordMark } from '../../../src/service/engine/speech-engine.ts';
import type { SpeakablePiece, WrittenWord } from './speakable-text.ts';

interface SpokenPiece {
  readonly piece: SpeakablePiece;
  readonly words: readonly WrittenWord[];
  readonly sounds: readonly TimedSound[];
  /** The phonemes of each token of `words`, as flite speaks the token alone; one list per token, in order. */
  readonly tokens: readonly (readonly string[])[];
  /** Duration in milliseconds of the speech before this piece of text. */
  readonly offsetMs: number;
}

/**
 * Returns the time of each word in a piece of speech. Aligns the words with the phonemes that flite spoke. If the
 * phonemes do not match, estimates the times.
 */
export function wordMarks({ piece, words, sounds, tokens, offsetMs }: SpokenPiece): WordMark[] {
  const spoken = spokenWords(words, tokens);
  const times = alignSounds(sounds, spoken) ?? estimateTimes(sounds, spoken);
  let units = 0;
  let codePoints = piece.start;
  const codePointAt = (index: number): number => {
    codePoints += countCodePoints(piece.written.slice(units, index));
    units = index;
    return codePoints;
  };
  return spoken.flatMap((word, index) => {
    const time = times[index];
    if (time === undefined) return [];
    const start = codePointAt(word.start);
    const end = codePointAt(word.end + (endsWithDot(piece.written, word) ? 1 : 0));
    return [{ start, end, startMs: offsetMs + time.startMs, endMs: offsetMs + time.endMs }];
  });
}

const ABBREVIATION = /^(?:\p{L}\.)+\p{L}$/u;

function endsWithDot(text: string, { end, start }: Pick<WrittenWord, 'end' | 'start'>): boolean {
  return text.charAt(end) === '.' && ABBREVIATION.test(text.slice(start, end));
}

const HAS_LETTER = /[\p{L}\p{N}]/u;

function spokenWords(
  words: readonly WrittenWord[],
  tokens: readonly (readonly string[])[],
): readonly (WordSounds & Pick<WrittenWord, 'end' | 'start'>)[] {
  let next = 0;
  const spoken = words.map(({ start, end, tokens: own }) => {
    const sounds = tokens.slice(next, next + own.length).flat();
    next += own.length;
    return { start, end, sounds, isOptional: !own.some((token) => HAS_LETTER.test(token)) };
  });
  return spoken.filter(({ sounds }) => sounds.length > 0);
}

type WordTime = Pick<WordMark, 'startMs' | 'endMs'>;

interface WordSounds {
  /** Names of the phonemes of the word when it is spoken alone; at least one. */
  readonly sounds: readonly string[];
  /** True if flite may leave out the word or symbol, such as a symbol at the beginning of a sentence. */
  readonly isOptional: boolean;
}

/**
 * Returns the times at which words are spoken. Aligns the phonemes that flite spoke with the phonemes of each word
 * spoken alone.
 * @returns one entry for each word, in order; the entry is undefined for an optional word that flite skipped. Returns
 * undefined instead of a list if the phonemes differ too much or are too many.
 */
export function alignSounds(
  spoken: readonly TimedSound[],
  words: readonly WordSounds[],
): (WordTime | undefined)[] | undefined {
  const sounds = spoken.filter(({ name }) => name !== PAUSE);
  const expected = words.flatMap(({ sounds: names, isOptional }, word) =>
    names.map((name) => ({ name, word, gap: isOptional ? 0 : GAP })),
  );
  // The table takes quadratic time: `¾` 200 times is some 2,000 sounds.
  if (sounds.length * expected.length > MAX_CELLS) return undefined;
  const table = new DifferenceTable(
    sounds.map(({ name }) => name),
    expected,
  );
  if (table.difference > MOST_DIFFERENT * sounds.length) return undefined;
  const times: (WordTime | undefined)[] = words.map(() => undefined);
  for (const [soundAt, expectedAt] of table.pairs()) {
    const sound = sounds[soundAt];
    const word = expected[expectedAt]?.word;
    if (sound === undefined || word === undefined) continue;
    times[word] = { startMs: times[word]?.startMs ?? sound.startMs, endMs: sound.endMs };
  }
  const isMissed = words.some(({ isOptional }, word) => !isOptional && times[word] === undefined);
  return isMissed ? undefined : times;
}

function estimateTimes(spoken: readonly TimedSound[], words: readonly WordSounds[]): WordTime[] {
  const sounds = spoken.filter(({ name }) => name !== PAUSE);
  const startMs = sounds.at(0)?.startMs ?? 0;
  const endMs = sounds.at(-1)?.endMs ?? 0;
  const whole = words.reduce((sum, word) => sum + word.sounds.length, 0);
  const timeOf = (count: number): number => startMs + ((endMs - startMs) * count) / whole;
  let before = 0;
  return words.map(({ sounds: { length } }) => {
    before += length;
    return { startMs: timeOf(before - length), endMs: timeOf(before) };
  });
}

// Far above the size of any sentence. Times are estimated above it.
const MAX_CELLS = 500_000;

const MOST_DIFFERENT = 0.4;

const GAP = 1;
const OTHER_SOUND = 1.5;
const OTHER_VOWEL = 0.5;
const VOWEL = /^[aeiou]/;

interface ExpectedSound {
  readonly name: string;
  readonly gap: number;
}

class DifferenceTable {
  readonly #left: readonly string[];
  readonly #right: readonly ExpectedSound[];
  readonly #width: number;
  readonly #costs: Float32Array;

  constructor(left: readonly string[], right: readonly ExpectedSound[]) {
    this.#left = left;
    this.#right = right;
    this.#width = right.length + 1;
    this.#costs = new Float32Array((left.length + 1) * this.#width);
    for (let row = 0; row <= left.length; row += 1) {
      for (let column = 0; column <= right.length; column += 1) {
        this.#costs[row * this.#width + column] = this.#least(row, column);
      }
    }
  }

  get difference(): number {
    return this.#cost(this.#left.length, this.#right.length);
  }

  pairs(): (readonly [number, number])[] {
    const pairs: (readonly [number, number])[] = [];
    let row = this.#left.length;
    let column = this.#right.length;
    while (row > 0 && column > 0) {
      const cost = this.#cost(row, column);
      if (cost === this.#cost(row - 1, column - 1) + this.#substitution(row, column)) {
        row -= 1;
        column -= 1;
        pairs.push([row, column]);
      } else if (cost === this.#cost(row - 1, column) + GAP) row -= 1;
      else column -= 1;
    }
    return pairs.toReversed();
  }

  #least(row: number, column: number): number {
    if (column === 0) return row * GAP;
    const without = this.#cost(row, column - 1) + (this.#right[column - 1]?.gap ?? GAP);
    if (row === 0) return without;
    return Math.min(
      this.#cost(row - 1, column - 1) + this.#substitution(row, column),
      this.#cost(row - 1, column) + GAP,
      without,
    );
  }

  #substitution(row: number, column: number): number {
    const left = this.#left[row - 1] ?? '';
    const right = this.#right[column - 1]?.name ?? '';
    if (left === right) return 0;
    return VOWEL.test(left) && VOWEL.test(right) ? OTHER_VOWEL : OTHER_SOUND;
  }

  #cost(row: number, column: number): number {
    return this.#costs[row * this.#width + column] ?? 0;
  }
}

export interface TimedSound {
  /** flite's name for the sound, such as `ae`; `pau` stands for silence. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A line that flite printed, with the phonemes of one sentence. */
export interface PrintedLine {
  readonly text: string;
  /** Number of samples of speech before the sentence. */
  readonly samplesBefore: number;
}

const PAUSE = 'pau';

/**
 * Parses the lines that flite prints with `-psdur` and returns the phonemes with their times. Each line is one
 * sentence. Shortens the last pause of each sentence, because flite prints a longer pause than it speaks.
 * @param samples length of the speech in samples
 */
export function timedSounds(
  lines: readonly PrintedLine[],
  samples: number,
  sampleRate: number,
): TimedSound[] {
  return lines.flatMap(({ text, samplesBefore }, index) => {
    const startMs = (samplesBefore * 1000) / sampleRate;
    const endMs = ((lines[index + 1]?.samplesBefore ?? samples) * 1000) / sampleRate;
    // For example `pau:0.164 hh:0.255`: the end of each sound, in seconds from the beginning of the sentence.
    const planned = Array.from(text.matchAll(/(\S+):(\d+\.\d+)/g), ([, name = '', end]) => ({
      name,
      end: Number(end),
    }));
    const at = (seconds: number): number => Math.min(endMs, startMs + seconds * 1000);
    return planned.map(({ name, end }, sound) => ({
      name,
      startMs: at(planned[sound - 1]?.end ?? 0),
      endMs: at(end),
    }));
  });
}

/** Returns the names of the phonemes in a line that flite printed without times. Leaves out pauses. */
export function soundNames(line: string): string[] {
  return line.split(' ').filter((name) => name !== '' && name !== PAUSE);
}
