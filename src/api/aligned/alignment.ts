import type { AlignedWord } from '../../contract/schemas/aligned.ts';
import type { AlignedEvent } from './aligned-events.ts';

/**
 * The times of the words of a stream, the third layer beside the audio: of each chunk the newest
 * snapshot counts, and none once it was invalidated, until there is a newer one (spec section 6.1).
 */
export class Alignment {
  readonly #chunks = new Map<number, readonly AlignedWord[]>();
  /** Chunks that lost their times, or some of them, and have no newer ones. */
  readonly #broken = new Set<number>();
  /** Times were lost of which nobody knows the chunk. */
  #hasLost = false;
  /** What all of it weighs in memory. */
  #weight = 0;

  /** Takes an event; false when it is more than any text has, and is not kept. */
  take(event: Extract<AlignedEvent, { kind: 'invalidated' | 'snapshot' }>): boolean {
    const { chunkSeq } = event;
    if (chunkSeq === undefined) {
      this.#hasLost = true;
      return true;
    }
    const before = this.#chunks.get(chunkSeq);
    this.#weight -= before === undefined ? 0 : weightOf(before);
    this.#chunks.delete(chunkSeq);
    this.#broken.add(chunkSeq);
    if (event.kind === 'invalidated') return this.#broken.size <= MOST_BROKEN;
    this.#weight += weightOf(event.words);
    if (this.#weight > MOST_WEIGHT) return false;
    this.#chunks.set(chunkSeq, event.words);
    if (event.isWhole) this.#broken.delete(chunkSeq);
    return this.#broken.size <= MOST_BROKEN;
  }

  /** Whether no chunk lost times, as far as its events show; whether all were sent the service knows. */
  get isWhole(): boolean {
    return !this.#hasLost && this.#broken.size === 0;
  }

  /** The words of all chunks, in the order of the chunks. */
  words(): AlignedWord[] {
    return [...this.#chunks].toSorted(([a], [b]) => a - b).flatMap(([, words]) => words);
  }
}

/** More chunks than any text has. */
const MOST_BROKEN = 100_000;
/** Characters, and what a word with its times takes beside them; an empty snapshot takes something too. */
const MOST_WEIGHT = 16 * 1024 * 1024;
const WORD_WEIGHT = 100;

function weightOf(words: readonly AlignedWord[]): number {
  return words.reduce((sum, { text }) => sum + WORD_WEIGHT + text.length, WORD_WEIGHT);
}
