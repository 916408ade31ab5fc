import type { AlignedWord } from '../../contract/schemas/aligned.ts';
import type { AlignedEvent } from './aligned-events.ts';

/**
 * The times that a stream told so far, the third layer beside the audio: of each chunk the newest
 * snapshot counts, and none once it was invalidated, until there is a newer one (spec section 6.1).
 */
export class Alignment {
  readonly #chunks = new Map<number, readonly AlignedWord[]>();
  /** What all of it weighs in memory. */
  #weight = 0;

  /** Takes an event; false when it is more than any text has, and is not kept. */
  take(event: Extract<AlignedEvent, { kind: 'invalidated' | 'snapshot' }>): boolean {
    const before = this.#chunks.get(event.chunkSeq);
    this.#weight -= before === undefined ? 0 : weightOf(before);
    this.#chunks.delete(event.chunkSeq);
    if (event.kind === 'invalidated') return true;
    this.#weight += weightOf(event.words);
    if (this.#weight > MOST_WEIGHT) return false;
    this.#chunks.set(event.chunkSeq, event.words);
    return true;
  }

  /** The words of all chunks, in the order of the chunks. */
  words(): AlignedWord[] {
    return [...this.#chunks].toSorted(([a], [b]) => a - b).flatMap(([, words]) => words);
  }
}

/** Characters, and what a word with its times takes beside them; an empty snapshot takes something too. */
const MOST_WEIGHT = 16 * 1024 * 1024;
const WORD_WEIGHT = 100;

function weightOf(words: readonly AlignedWord[]): number {
  return words.reduce((sum, { text }) => sum + WORD_WEIGHT + text.length, WORD_WEIGHT);
}
