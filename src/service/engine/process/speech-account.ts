import { countCodePoints } from '../../../text/code-points.ts';
import type { WordMark } from '../speech-engine.ts';
import { ProtocolFault } from './messages.ts';
import type { SpeakMessage } from './messages.ts';

/** More speech than this is not of the text: nobody needs 3 s for a character, or 30 s for none. */
const LONGEST_SPEECH = { forAnyMs: 30_000, forCharacterMs: 3_000 } as const;

/** A word may end this much after the last sample: times are rounded. */
const ROUNDING_MS = 50;

/** Keeps the account of one request: how much was said, and whether the words run forwards. */
export class SpeechAccount {
  readonly #characters: number;
  readonly #longestMs: number;
  readonly #sampleRate: number;
  #samples = 0;
  #lastWord: WordMark = { start: 0, end: 0, startMs: 0, endMs: 0 };

  constructor(request: SpeakMessage, sampleRate: number) {
    this.#characters = countCodePoints(request.text);
    this.#longestMs =
      LONGEST_SPEECH.forAnyMs +
      (LONGEST_SPEECH.forCharacterMs * this.#characters) / Math.min(1, request.speed);
    this.#sampleRate = sampleRate;
  }

  /** @throws ProtocolFault when there is more speech than the text can be */
  add(samples: Float32Array): void {
    this.#samples += samples.length;
    if (this.#spokenMs <= this.#longestMs) return;
    const seconds = Math.floor(this.#longestMs / 1000);
    throw new ProtocolFault(
      `it sent more than ${seconds} s of speech for ${this.#characters} characters`,
    );
  }

  /** @throws ProtocolFault for words that run backwards, overlap, or are not in the text */
  addWords(words: readonly WordMark[]): void {
    for (const word of words) {
      const last = this.#lastWord;
      if (word.end <= word.start || word.start < last.end || word.end > this.#characters) {
        throw new ProtocolFault(
          `it told of a word from ${word.start} to ${word.end} after one that ends at ${last.end}, in a text of ${this.#characters} characters`,
        );
      }
      if (word.startMs < last.startMs || word.endMs < word.startMs) {
        throw new ProtocolFault(
          `it told of a word from ${word.startMs} to ${word.endMs} ms after one that begins at ${last.startMs} ms`,
        );
      }
      this.#lastWord = word;
    }
  }

  /**
   * @returns whether anything was said
   * @throws ProtocolFault when a word ends after the speech
   */
  close(): boolean {
    if (this.#lastWord.endMs > this.#spokenMs + ROUNDING_MS) {
      throw new ProtocolFault(
        `it told of a word that ends at ${this.#lastWord.endMs} ms in a speech of ${Math.round(this.#spokenMs)} ms`,
      );
    }
    return this.#samples > 0;
  }

  get #spokenMs(): number {
    return (this.#samples * 1000) / this.#sampleRate;
  }
}
