import { countCodePoints } from '../../../text/code-points.ts';
import type { WordMark } from '../speech-engine.ts';
import { ProtocolFault } from './messages.ts';

const LONGEST_SPEECH = { forAnyMs: 30_000, forCharacterMs: 3_000 } as const;

// Word times are rounded, so that a word may end slightly after the last sample.
const ROUNDING_MS = 50;

/** Validates the speech that an engine sends for one request: its duration and its word times. */
export class SpeechCheck {
  readonly #characters: number;
  readonly #longestMs: number;
  readonly #sampleRate: number;
  #samples = 0;
  #lastWord: WordMark = { start: 0, end: 0, startMs: 0, endMs: 0 };

  /** @param speed speaking rate relative to the normal rate of the voice */
  constructor(text: string, speed: number, sampleRate: number) {
    this.#characters = countCodePoints(text);
    this.#longestMs =
      LONGEST_SPEECH.forAnyMs +
      (LONGEST_SPEECH.forCharacterMs * this.#characters) / Math.min(1, speed);
    this.#sampleRate = sampleRate;
  }

  /** Adds samples of the speech. @throws ProtocolFault when the speech is too long for the text */
  add(samples: Float32Array): void {
    this.#samples += samples.length;
    if (this.#spokenMs <= this.#longestMs) return;
    const seconds = Math.floor(this.#longestMs / 1000);
    throw new ProtocolFault(
      `it sent more than ${seconds} s of speech for ${this.#characters} characters`,
    );
  }

  /**
   * Adds the next words. @throws ProtocolFault if words are out of order, overlap, or lie beyond the end of the text
   */
  addWords(words: readonly WordMark[]): void {
    for (const word of words) {
      const last = this.#lastWord;
      if (word.end <= word.start || word.start < last.end || word.end > this.#characters) {
        throw new ProtocolFault(
          `it sent a word from ${word.start} to ${word.end} after one that ends at ${last.end}, in a text of ${this.#characters} characters`,
        );
      }
      if (word.startMs < last.startMs || word.endMs < word.startMs) {
        throw new ProtocolFault(
          `it sent a word from ${word.startMs} to ${word.endMs} ms after one that begins at ${last.startMs} ms`,
        );
      }
      this.#lastWord = word;
    }
  }

  get isHeard(): boolean {
    return this.#samples > 0;
  }

  /** Ends the validation. @throws ProtocolFault if the end time of a word is later than the end of the audio */
  close(): void {
    if (this.#lastWord.endMs > this.#spokenMs + ROUNDING_MS) {
      throw new ProtocolFault(
        `it sent a word that ends at ${this.#lastWord.endMs} ms in a speech of ${Math.round(this.#spokenMs)} ms`,
      );
    }
  }

  get #spokenMs(): number {
    return (this.#samples * 1000) / this.#sampleRate;
  }
}
