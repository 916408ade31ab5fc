import type {
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
  AlignmentStatus,
} from '../../contract/speech.ts';
import { countCodePoints, withoutSilentSigns } from '../../text/code-points.ts';
import { splitClauses } from '../../text/sentences.ts';
import { LONGEST_STRETCH, type SpeechChunk, type WordMark } from '../engine/speech-engine.ts';

/** What a client is told of the times of words. */
export type AlignmentUpdate =
  | { readonly name: 'alignment_snapshot'; readonly data: AlignmentSnapshot }
  | { readonly name: 'alignment_invalidated'; readonly data: AlignmentInvalidated };

/** What nobody misses times of when it is not said. */
const HAS_WORD = /[\p{L}\p{N}]/u;

interface Piece {
  readonly text: string;
  /** Code points of the whole text. */
  readonly start: number;
  readonly end: number;
  /** Known when the first is told of it. */
  chunkSeq: number | undefined;
  /** What the engine told. */
  words: readonly WordMark[];
}

/**
 * Follows the speech of a text and says what its client is to be told (docs/api/speech.md#aligned-stream): a chunk is
 * a sentence, or a clause of a long one; it gets a snapshot with an estimate as soon as its sound is
 * there, where the engine says what the sound is of, and one with the engine's own words when those
 * are told, again with each that comes later. What is behind without words is invalidated.
 */
export class Alignment {
  readonly #characters: readonly string[];
  readonly #pieces: readonly Piece[];
  readonly #delayMs: number;
  #updates: AlignmentUpdate[] = [];
  #current = 0;
  #chunks = 0;
  #spokenMs = 0;
  #isPartial = false;

  /** @param delayMs when the speech begins in the full audio */
  constructor(text: string, delayMs: number) {
    this.#characters = Array.from(text);
    this.#pieces = piecesOf(text);
    this.#delayMs = delayMs;
  }

  /** What there is to tell since it was asked last. */
  take(): readonly AlignmentUpdate[] {
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  /** A chunk, before any of its sound is told. */
  hear(chunk: SpeechChunk): void {
    const { samples, sampleRate, span, words = [] } = chunk;
    if (span !== undefined && samples.length > 0) this.#estimate(span.start, chunk);
    this.#spokenMs += (samples.length * 1000) / sampleRate;
    const touched = new Set<Piece>();
    for (const word of words) {
      const piece = this.#advance(word.start);
      if (piece === undefined) continue;
      piece.words = [...piece.words, word];
      touched.add(piece);
    }
    for (const piece of touched) this.#tell(piece, piece.words);
  }

  /** The end of the speech. */
  finish(): AlignmentStatus {
    this.#advance(Infinity);
    return this.#isPartial ? 'partial' : 'complete';
  }

  #estimate(at: number, chunk: SpeechChunk): void {
    const piece = this.#advance(at);
    if (piece === undefined || piece.words.length > 0) return;
    const words = estimateWords(piece.text, chunk, {
      first: piece.start,
      offsetMs: this.#spokenMs,
    });
    if (words.length > 0) this.#tell(piece, words);
  }

  /** Goes on to the piece of a code point; those before it are over. */
  #advance(at: number): Piece | undefined {
    for (;;) {
      const piece = this.#pieces[this.#current];
      if (piece === undefined || at < piece.end) return piece;
      this.#end(piece);
      this.#current += 1;
    }
  }

  #end(piece: Piece): void {
    const isMissed = piece.chunkSeq !== undefined || HAS_WORD.test(piece.text);
    if (piece.words.length > 0 || !isMissed) return;
    this.#isPartial = true;
    const chunkSeq = this.#number(piece);
    this.#updates.push({ name: 'alignment_invalidated', data: { chunkSeq } });
  }

  #tell(piece: Piece, words: readonly WordMark[]): void {
    this.#updates.push({
      name: 'alignment_snapshot',
      data: {
        chunkSeq: this.#number(piece),
        units: 'milliseconds',
        words: words.map((word) => this.#aligned(word)),
      },
    });
  }

  #number(piece: Piece): number {
    if (piece.chunkSeq === undefined) {
      piece.chunkSeq = this.#chunks;
      this.#chunks += 1;
    }
    return piece.chunkSeq;
  }

  #aligned({ start, end, startMs, endMs }: WordMark): AlignedWord {
    return {
      text: this.#characters.slice(start, end).join(''),
      startMs: Math.round(this.#delayMs + startMs),
      endMs: Math.round(this.#delayMs + endMs),
    };
  }
}

function piecesOf(text: string): Piece[] {
  let start = 0;
  return splitClauses(text, LONGEST_STRETCH).map((piece) => {
    const end = start + countCodePoints(piece.text);
    const found = { text: piece.text, start, end, chunkSeq: undefined, words: [] };
    start = end;
    return found;
  });
}

/** Samples below this are silence. */
const SILENCE = 0.01;

/**
 * About when the words of a stretch are said, from nothing but their lengths and where its sound
 * begins and ends: for the time until the engine knows better. Words are parted by white space.
 * @param piece the text that the samples say
 * @param first the code point of the whole text that it begins at
 * @param offsetMs when the samples begin
 */
export function estimateWords(
  piece: string,
  { samples, sampleRate }: Pick<SpeechChunk, 'samples' | 'sampleRate'>,
  { first, offsetMs }: { readonly first: number; readonly offsetMs: number },
): WordMark[] {
  const words = wordsOf(piece, first);
  const sound = soundOf(samples);
  const weights = words.map(({ start, end }) => end - start + 1);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const timeOf = (weight: number): number => {
    const sample = sound.start + ((sound.end - sound.start) * weight) / whole;
    return offsetMs + (sample * 1000) / sampleRate;
  };
  let before = 0;
  return words.map((word, index) => {
    const startMs = timeOf(before);
    before += weights[index] ?? 0;
    return { ...word, startMs, endMs: timeOf(before) };
  });
}

function wordsOf(piece: string, first: number): Pick<WordMark, 'start' | 'end'>[] {
  let units = 0;
  let points = first;
  return Array.from(piece.matchAll(/\S+/g)).flatMap(({ 0: written, index }) => {
    const { at, word } = withoutSilentSigns(written);
    if (word === '') return [];
    points += countCodePoints(piece.slice(units, index + at));
    units = index + at;
    return [{ start: points, end: points + countCodePoints(word) }];
  });
}

/** From the first to the last sample that is heard. */
function soundOf(samples: Float32Array): { readonly start: number; readonly end: number } {
  const start = samples.findIndex(isHeard);
  return start < 0
    ? { start: 0, end: samples.length }
    : { start, end: samples.findLastIndex(isHeard) + 1 };
}

function isHeard(sample: number): boolean {
  return Math.abs(sample) > SILENCE;
}
