import type {
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
  AlignmentStatus,
} from '../../../contract/schemas/aligned.ts';
import { splitClauses } from '../../../text/clauses.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { LONGEST_STRETCH, type SpeechChunk, type WordMark } from '../../engine/speech-engine.ts';
import { estimateWords } from './estimate-words.ts';

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
 * Follows the speech of a text and says what its client is to be told (spec section 6.1): a chunk is
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
