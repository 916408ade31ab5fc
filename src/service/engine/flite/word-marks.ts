import { countCodePoints } from '../../../text/code-points.ts';
import type { WordMark } from '../speech-engine.ts';
import type { SpeakablePiece, WrittenWord } from './speakable-text.ts';

/** What is known when a piece was spoken and its words were pronounced one by one. */
interface SpokenPiece {
  readonly piece: SpeakablePiece;
  readonly words: readonly WrittenWord[];
  readonly sounds: readonly TimedSound[];
  /** Names of the sounds of each token of the words, in order. */
  readonly tokens: readonly (readonly string[])[];
  /** How much of the request was said before. */
  readonly offsetMs: number;
}

/** Returns when each word of a piece is said: found by its sounds, or estimated where they do not match. */
export function wordMarks({ piece, words, sounds, tokens, offsetMs }: SpokenPiece): WordMark[] {
  const said = saidWords(words, tokens);
  const times = alignSounds(sounds, said) ?? estimateTimes(sounds, said);
  const { codePoint } = new CodePointCounter(piece.written, piece.start);
  return said.flatMap(({ start, end }, index) => {
    const time = times[index];
    if (time === undefined) return [];
    return [
      {
        start: codePoint(start),
        end: codePoint(end),
        startMs: offsetMs + time.startMs,
        endMs: offsetMs + time.endMs,
      },
    ];
  });
}

interface SaidWord extends WordSounds {
  readonly start: number;
  readonly end: number;
}

const HAS_LETTER = /[\p{L}\p{N}]/u;

/** The words that have a sound. */
function saidWords(
  words: readonly WrittenWord[],
  tokens: readonly (readonly string[])[],
): SaidWord[] {
  let next = 0;
  const said = words.map(({ start, end, tokens: own }) => {
    const sounds = tokens.slice(next, next + own.length).flat();
    next += own.length;
    return { start, end, sounds, isOptional: !own.some((token) => HAS_LETTER.test(token)) };
  });
  return said.filter(({ sounds }) => sounds.length > 0);
}

/** Turns UTF-16 indices, asked for in order, into code points. */
class CodePointCounter {
  readonly #text: string;
  #units = 0;
  #points: number;

  /** @param first the code point that the text begins at */
  constructor(text: string, first: number) {
    this.#text = text;
    this.#points = first;
  }

  readonly codePoint = (units: number): number => {
    this.#points += countCodePoints(this.#text.slice(this.#units, units));
    this.#units = units;
    return this.#points;
  };
}

/** When a word is said, in milliseconds. */
interface WordTime {
  readonly startMs: number;
  readonly endMs: number;
}

/** What a word sounds like alone. */
interface WordSounds {
  /** At least one. */
  readonly sounds: readonly string[];
  /** It may go without saying, as signs do at the beginning of a sentence. */
  readonly isOptional: boolean;
}

/**
 * Finds the sounds of words in what was said: the assignment with the fewest differences, as a word
 * sounds a little otherwise among others than it does alone.
 * @param said in order of time
 * @returns a time for each word, none for optional ones that were not said; or nothing when what was
 * said is too different to be trusted
 */
export function alignSounds(
  said: readonly TimedSound[],
  words: readonly WordSounds[],
): (WordTime | undefined)[] | undefined {
  const sounds = said.filter(({ name }) => name !== PAUSE);
  const expected = words.flatMap(({ sounds: names, isOptional }, word) =>
    names.map((name) => ({ name, word, gap: isOptional ? 0 : GAP })),
  );
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

/** Divides the time from the first sound to the last among the words, by how many sounds each has alone. */
function estimateTimes(said: readonly TimedSound[], words: readonly WordSounds[]): WordTime[] {
  const sounds = said.filter(({ name }) => name !== PAUSE);
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

/** More than this part of the sounds being others, the words are not those that were said. */
const MOST_DIFFERENT = 0.4;

/** A sound too many or too few, and one for another; vowels stand for each other easily. */
const GAP = 1;
const OTHER_SOUND = 1.5;
const OTHER_VOWEL = 0.5;
const VOWEL = /^[aeiou]/;

interface ExpectedSound {
  readonly name: string;
  /** What it costs when it is not there. */
  readonly gap: number;
}

/** The least differences between the beginnings of what is said and of what is expected. */
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

  /** Which of the one stand for which of the other, in order. */
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

/** A sound of speech with its time, as flite tells it. */
export interface TimedSound {
  /** flite's name of it, such as `ae`; `PAUSE` for silence. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A line that flite printed while it spoke. */
export interface PrintedLine {
  readonly text: string;
  /** How many samples there were before the sentence that the line is about. */
  readonly samplesBefore: number;
}

const PAUSE = 'pau';

/**
 * The sounds of what flite said with `-psdur`, a line for each of its sentences. What it tells is
 * what it planned: exact but for the pause at the end, of which it makes less. So each sentence begins
 * where its samples do, and ends with them.
 * @param samples how many there are in all
 */
export function timedSounds(
  lines: readonly PrintedLine[],
  samples: number,
  sampleRate: number,
): TimedSound[] {
  return lines.flatMap(({ text, samplesBefore }, index) => {
    const startMs = (samplesBefore * 1000) / sampleRate;
    const endMs = ((lines[index + 1]?.samplesBefore ?? samples) * 1000) / sampleRate;
    const planned = plannedEnds(text);
    const at = (seconds: number): number => Math.min(endMs, startMs + seconds * 1000);
    return planned.map(({ name, end }, sound) => ({
      name,
      startMs: at(planned[sound - 1]?.end ?? 0),
      endMs: at(end),
    }));
  });
}

/** Names of the sounds of a line without times, and without pauses. */
export function soundNames(line: string): string[] {
  return line.split(' ').filter((name) => name !== '' && name !== PAUSE);
}

/** `pau:0.164 hh:0.255`, in seconds from the beginning of the sentence. */
function plannedEnds(line: string): { readonly name: string; readonly end: number }[] {
  return Array.from(line.matchAll(/(\S+):(\d+\.\d+)/g), ([, name = '', end]) => ({
    name,
    end: Number(end),
  }));
}
