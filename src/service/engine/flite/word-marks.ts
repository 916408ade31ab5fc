import { countCodePoints } from '../../../text/code-points.ts';
import type { WordMark } from '../speech-engine.ts';
import { alignSounds, type WordSounds } from './align-sounds.ts';
import type { SpeakablePiece } from './pieces.ts';
import type { TimedSound } from './sounds.ts';
import type { WrittenWord } from './written-words.ts';

/** What is known when a piece was spoken and its words were pronounced one by one. */
export interface SpokenPiece {
  readonly piece: SpeakablePiece;
  readonly words: readonly WrittenWord[];
  readonly sounds: readonly TimedSound[];
  /** Names of the sounds of each token of the words, in order. */
  readonly tokens: readonly (readonly string[])[];
  /** How much of the request was said before. */
  readonly offsetMs: number;
}

/** When each word of a piece is said; no word when what was said cannot be told for sure. */
export function wordMarks({ piece, words, sounds, tokens, offsetMs }: SpokenPiece): WordMark[] {
  const said = saidWords(words, tokens);
  const times = alignSounds(sounds, said);
  if (times === undefined) return [];
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
