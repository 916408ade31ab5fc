import { splitClauses } from '../../../text/clauses.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { LONGEST_STRETCH, type TextSpan } from '../speech-engine.ts';
import { traceSpeakable } from './speakable-text.ts';
import { type WrittenWord, writtenWords } from './written-words.ts';

/** A part of a text that flite is given at once; where it is in code points of the text. */
export interface SpeakablePiece extends TextSpan {
  /** As it is written. */
  readonly written: string;
  /** As flite is given it; never empty. */
  readonly text: string;
  /** The words of `written`. */
  words(): readonly WrittenWord[];
}

/** The sentences of a text, and clauses of long ones, of which flite can say something. */
export function* speakablePieces(text: string): Generator<SpeakablePiece, undefined> {
  let start = 0;
  for (const { text: written } of splitClauses(text, LONGEST_STRETCH)) {
    const speakable = traceSpeakable(written);
    const end = start + countCodePoints(written);
    const words = (): readonly WrittenWord[] => writtenWords(speakable, written);
    if (speakable.text !== '') yield { written, text: speakable.text, start, end, words };
    start = end;
  }
}
