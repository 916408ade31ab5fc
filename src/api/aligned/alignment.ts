import type { AlignedWord } from '../../contract/schemas/aligned.ts';
import type { AlignedEvent } from './aligned-events.ts';

/**
 * The times that a stream told so far, the third layer beside the audio: of each chunk the newest
 * snapshot counts, and none once it was invalidated, until there is a newer one (spec section 6.1).
 */
export class Alignment {
  readonly #chunks = new Map<number, readonly AlignedWord[]>();

  take(event: Extract<AlignedEvent, { kind: 'invalidated' | 'snapshot' }>): void {
    if (event.kind === 'snapshot') this.#chunks.set(event.chunkSeq, event.words);
    else this.#chunks.delete(event.chunkSeq);
  }

  /** The words of all chunks, in the order of the chunks. */
  words(): AlignedWord[] {
    return [...this.#chunks].toSorted(([a], [b]) => a - b).flatMap(([, words]) => words);
  }
}
